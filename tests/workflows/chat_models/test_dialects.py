"""Ways in which servers differ from the protocol, each over a socket: learnt once from a refusal, or understood as it is."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest

from app.domain.chat import ChatRole, Completion, Message
from app.domain.errors import ModelRefused, ModelUnavailable
from tests.workflows.chat_models.model_request import ASKED, ask_model, make_endpoint
from tests.workflows.chat_models.rude_server import (
    make_completion,
    make_delta,
    make_error_answer,
    make_events,
    make_http_answer,
    serve_rudely,
)
from workflows.chat_models.openai_compatible import connect_model

FORM = '{"a": "lamp"}'


def say(*roles: ChatRole) -> tuple[Message, ...]:
    return tuple(Message(role=role, content=f"{role.value} {number}") for number, role in enumerate(roles))


async def ask_twice(*answers: Sequence[bytes], messages: tuple[Message, ...] = ASKED.messages) -> Sequence[Mapping[str, Any]]:
    """Ask twice in one session, and return what was asked."""
    asked = ASKED.model_copy(update={"messages": messages})
    async with serve_rudely(*answers) as server, connect_model(make_endpoint(server.url)) as model:
        assert [(await model.complete(asked)).text for _ in range(2)] == [FORM, FORM]
        return server.bodies


@pytest.mark.parametrize(
    "refusal",
    [
        make_error_answer(400, "failed to parse grammar at row 3", type="invalid_request_error"),
        make_error_answer(400, "Unsupported keyword in guided decoding"),
        make_error_answer(400, "Unknown name 'x' at 'generation_config.response_schema': Cannot find field."),
        make_error_answer(422, "this engine was built without constrained output"),
        make_error_answer(500, "JSON schema conversion failed: unrecognised node"),
        make_error_answer(501, "not in this build"),
        make_error_answer(404, "no endpoint takes the requested parameters"),
        make_error_answer(400, "not on this plan", param="response_format"),
        make_http_answer(400, b'{"detail": "no outlines here"}'),
    ],
)
async def test_a_schema_that_is_refused_in_any_words_is_left_out_from_then_on(refusal: list[bytes]) -> None:
    bodies = await ask_twice(refusal, make_completion(FORM))
    assert ["response_format" in body for body in bodies] == [True, False, False]
    assert all(body["stream"] for body in bodies)


async def test_a_stream_that_is_refused_is_asked_for_in_one_piece() -> None:
    refusal = make_error_answer(400, "only approved accounts may do this", param="stream", code="unsupported_value")
    bodies = await ask_twice(refusal, make_completion(FORM))
    assert [("stream" in body, "stream_options" in body) for body in bodies] == [(True, True), (False, False), (False, False)]
    assert all("response_format" in body for body in bodies)


@pytest.mark.parametrize(
    ("messages", "joined"),
    [
        (
            say(ChatRole.SYSTEM, ChatRole.USER, ChatRole.ASSISTANT, ChatRole.USER, ChatRole.USER),
            [("user", "system 0\n\nuser 1"), ("assistant", "assistant 2"), ("user", "user 3\n\nuser 4")],
        ),
        (say(ChatRole.SYSTEM, ChatRole.ASSISTANT), [("user", "system 0"), ("assistant", "assistant 1")]),
    ],
)
async def test_roles_that_are_refused_are_joined_and_all_else_stays(
    messages: tuple[Message, ...], joined: list[tuple[str, str]]
) -> None:
    refusal = make_error_answer(400, "template: a turn of the wrong speaker")
    bodies = await ask_twice(refusal, refusal, refusal, make_completion(FORM), messages=messages)
    for body in bodies[3:]:
        assert [(m["role"], m["content"]) for m in body["messages"]] == joined
        assert "response_format" in body
        assert body["stream"]


async def test_a_template_that_fails_on_roles_is_no_outage() -> None:
    refusal = make_error_answer(500, "raise_exception: roles take turns")
    messages = say(ChatRole.SYSTEM, ChatRole.USER)
    bodies = await ask_twice(refusal, refusal, refusal, make_completion(FORM), messages=messages)
    assert [len(body["messages"]) for body in bodies] == [2, 2, 2, 1, 1]


async def test_what_two_refusals_name_is_both_left_out() -> None:
    first, second = make_error_answer(400, "no grammar in here"), make_error_answer(400, "no such speaker")
    messages = say(ChatRole.SYSTEM, ChatRole.USER)
    bodies = await ask_twice(first, second, second, make_completion(FORM), messages=messages)
    assert [("response_format" in b, "stream" in b, len(b["messages"])) for b in bodies] == [
        (True, True, 2),
        (False, True, 2),
        (False, False, 2),
        (False, True, 1),
        (False, True, 1),
    ]


async def test_a_refusal_that_no_form_mends_is_raised_and_not_tried_again() -> None:
    async with (
        serve_rudely(make_error_answer(400, "this content is not allowed, request 17")) as server,
        connect_model(make_endpoint(server.url)) as model,
    ):
        for _ in range(2):
            with pytest.raises(ModelRefused, match="not allowed"):
                await model.complete(ASKED)
    assert ["response_format" in body for body in server.bodies] == [True, False, True, True]


async def test_a_failure_in_between_teaches_nothing() -> None:
    broken = make_error_answer(500, "the engine stopped")
    async with serve_rudely(broken, make_completion(FORM)) as server, connect_model(make_endpoint(server.url)) as model:
        with pytest.raises(ModelUnavailable):
            await model.complete(ASKED)
        await model.complete(ASKED)
    assert ["response_format" in body for body in server.bodies] == [True, True]


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"code": "json_validate_failed", "failed_generation": '{"b": 1}'}, '{"b": 1}'),
        ({"code": "json_validate_failed"}, ""),
        ({"code": "tool_use_failed", "failed_generation": "lamp"}, "lamp"),
    ],
)
async def test_an_answer_that_the_server_found_of_the_wrong_form_is_an_answer(more: dict[str, str], text: str) -> None:
    async with serve_rudely(make_error_answer(400, "Generated text does not match", **more)) as server:
        completion = await ask_model(server.url)
    assert (completion.text, completion.estimated, len(server.requests)) == (text, True, 1)


async def test_a_wrong_form_that_is_told_within_a_stream_is_an_answer() -> None:
    error = {"message": "does not match", "code": "json_validate_failed", "failed_generation": "lamp", "status_code": 400}
    async with serve_rudely(make_events(make_delta("la"), {"error": error})) as server:
        assert (await ask_model(server.url)).text == "lamp"


def tell(finish: str = "stop", **message: object) -> list[bytes]:
    choice = {"message": {"role": "assistant", **message}, "finish_reason": finish}
    return make_http_answer(200, orjson.dumps({"choices": [choice]}))


def call(name: str, arguments: object) -> dict[str, object]:
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}


CALLED = {"name": "form", "arguments": {"a": "lamp"}}


@pytest.mark.parametrize(
    "answer",
    [
        tell(content=None, reasoning_content=FORM),
        tell(content=" \n", reasoning=f"So this it is:\n```json\n{FORM}\n```"),
        tell("function_call", content=None, function_call={"name": "form", "arguments": FORM}),
        make_events(
            {"choices": [{"delta": {"content": None, "reasoning_content": '{"a": '}}]},
            {"choices": [{"delta": {"reasoning": '"lamp"}'}}]},
        ),
        tell("tool_calls", content=None, tool_calls=[call("form", FORM)]),
        tell("tool_calls", content="", tool_calls=[call("form", {"a": "lamp"})]),
        make_events(
            {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "form", "arguments": '{"a": '}}]}}]},
            {
                "choices": [
                    {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": '"lamp"}'}}]}, "finish_reason": "tool_calls"}
                ]
            },
        ),
    ],
    ids=[
        "reasoning_content",
        "reasoning",
        "an old call",
        "thinking in a stream",
        "a call",
        "a call with an object",
        "a call in a stream",
    ],
)
async def test_a_form_that_comes_elsewhere_is_the_answer(answer: list[bytes]) -> None:
    async with serve_rudely(answer) as server:
        completion = await ask_model(server.url)
    assert json.loads(completion.text) in (json.loads(FORM), CALLED)
    assert completion.finish_reason == "stop"


@pytest.mark.parametrize(
    ("thought", "finish"), [("The lamp, {surely}.", "stop"), ('{"b": 1}', "stop"), ('["a"]', "stop"), ('{"a": "la', "length")]
)
async def test_thinking_of_another_form_is_no_answer(thought: str, finish: str) -> None:
    async with serve_rudely(tell(finish, content="", reasoning_content=thought)) as server:
        assert (await ask_model(server.url)).text == ""


async def test_free_text_is_never_taken_from_thinking_or_calls() -> None:
    free = ASKED.model_copy(update={"response_schema": None})
    answer = tell(content="", reasoning_content=FORM, tool_calls=[call("form", FORM)])
    async with serve_rudely(answer) as server, connect_model(make_endpoint(server.url)) as model:
        assert (await model.complete(free)).text == ""


@pytest.mark.parametrize(
    "choice",
    [
        {"error": {"code": 502, "message": "lost the engine"}, "finish_reason": "error", "message": {"content": "half"}},
        {"finish_reason": "error", "message": {"content": "half"}},
        {"finish_reason": "insufficient_system_resource", "delta": {"content": "half"}},
    ],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_a_choice_that_failed_upstream_is_an_outage(choice: dict[str, object], stream: bool) -> None:
    whole = make_http_answer(200, orjson.dumps({"choices": [choice]}))
    async with serve_rudely(make_events(make_delta("so "), {"choices": [choice]}) if stream else whole) as server:
        with pytest.raises(ModelUnavailable):
            await ask_model(server.url, stream=stream)


async def ask_with_usage(text: str, *usage: Mapping[str, Any]) -> Completion:
    events = [{"choices": [], "usage": stated} for stated in usage]
    async with serve_rudely(make_events(make_delta(text, finish_reason="stop"), *events)) as server:
        return await ask_model(server.url)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 900}, (70, 830)),
        ({"prompt_tokens": 70, "completion_tokens": 0, "total_tokens": 900}, (70, 830)),
        ({"prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 100}, (70, 30)),
        ({"prompt_tokens": 70, "completion_tokens": 30, "total_tokens": 0}, (70, 30)),
        ({"prompt_tokens": 70, "completion_tokens": 30}, (70, 30)),
        ({"prompt_tokens": 70, "completion_tokens": 30, "completion_tokens_details": {"reasoning_tokens": 800}}, (70, 830)),
        ({"prompt_tokens": 70, "completion_tokens": 830, "completion_tokens_details": {"reasoning_tokens": 800}}, (70, 830)),
    ],
)
async def test_what_is_told_beside_the_answer_is_thinking(usage: Mapping[str, Any], tokens: tuple[int, int]) -> None:
    completion = await ask_with_usage("lamp", usage)
    assert (completion.usage.input_tokens, completion.usage.output_tokens, completion.estimated) == (*tokens, False)


async def test_a_count_of_none_beside_a_text_is_estimated() -> None:
    none = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    completion = await ask_with_usage("lamp " * 400, none)
    assert completion.estimated
    assert completion.usage.output_tokens == 500
    assert completion.usage.input_tokens > 0
    counted = await ask_with_usage("lamp", {"prompt_tokens": 70, "completion_tokens": 30}, none)
    assert (counted.usage.input_tokens, counted.usage.output_tokens) == (70, 30)


@pytest.mark.parametrize("last", [{"delta": {}}, {"delta": None}, {}])
async def test_a_whole_message_at_the_end_of_a_stream_is_not_told_twice(last: dict[str, object]) -> None:
    choice = {"message": {"role": "assistant", "content": "one lamp"}, "finish_reason": "stop", **last}
    async with serve_rudely(make_events(make_delta("one "), make_delta("lamp"), {"choices": [choice]})) as server:
        assert (await ask_model(server.url)).text == "one lamp"
    async with serve_rudely(make_events({"choices": [choice]})) as server:
        assert (await ask_model(server.url)).text == "one lamp"


EVENTS = b"".join(
    b"data: " + orjson.dumps(event) + b"\n\n" for event in (make_delta("one "), make_delta("lamp", finish_reason="stop"))
)


@pytest.mark.parametrize(
    "kind", ["text/plain; charset=utf-8", "application/json", "text/event-stream", "application/octet-stream"]
)
@pytest.mark.parametrize("before", [b"", "\ufeff".encode(), b": ping\n\n", b"\n", b"event: message\n"])
@pytest.mark.parametrize("cut", [0, 1, 5])
async def test_a_stream_is_one_whatever_it_is_called_and_begins_with(kind: str, before: bytes, cut: int) -> None:
    [whole] = make_http_answer(200, before + EVENTS, kind)
    at = whole.index(b"\r\n\r\n") + 4 + cut
    async with serve_rudely([whole[:at], whole[at:]]) as server:
        assert (await ask_model(server.url)).text == "one lamp"


@pytest.mark.parametrize("before", [b"", "\ufeff".encode()])
@pytest.mark.parametrize("kind", ["text/event-stream", "text/plain", "application/json"])
async def test_one_object_is_an_answer_whatever_it_is_called(kind: str, before: bytes) -> None:
    choice = {"message": {"content": "one lamp"}, "finish_reason": "stop"}
    body = before + orjson.dumps({"choices": [choice]}, option=orjson.OPT_INDENT_2)
    async with serve_rudely(make_http_answer(200, body, kind)) as server:
        assert (await ask_model(server.url)).text == "one lamp"
