import asyncio
from datetime import timedelta

import pytest

from app.domain.chat import ChatRole, Message
from app.domain.errors import ModelRefused, ModelUnavailable
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_faults import Fault
from tests.workflows.chat_models.model_request import ASKED, KEY, SCHEMA, ask_model, make_endpoint
from tests.workflows.chat_models.rude_server import (
    make_chunked_stream,
    make_completion,
    make_delta,
    make_error_answer,
    make_events,
    make_http_answer,
    serve_rudely,
)
from workflows.chat_models.openai_compatible import connect_model


@pytest.mark.parametrize("stream", [True, False])
async def test_answers_with_tokens_and_cost(stream: bool) -> None:
    async with serve_model_stub() as stub:
        completion = await ask_model(stub.base_url, stream=stream)
    usage = completion.usage
    assert completion.text.startswith('{"a":')
    assert (completion.model, completion.finish_reason, completion.estimated) == ("stub", "stop", False)
    assert usage.model_calls == 1
    assert usage.input_tokens > 0
    assert usage.cost_microusd == round(2 * usage.input_tokens + 10.5 * usage.output_tokens)


async def test_streamed_and_whole_answers_are_the_same() -> None:
    async with serve_model_stub(ModelStub(answerer=lambda _: "关税 \U0001f600 " * 300)) as stub:
        whole, streamed = await ask_model(stub.base_url, stream=False), await ask_model(stub.base_url, stream=True)
    assert whole.text == streamed.text == "关税 \U0001f600 " * 300


@pytest.mark.parametrize("stream", [True, False])
async def test_one_connection_serves_many_calls(stream: bool) -> None:
    async with serve_rudely(make_completion("yes")) as server, connect_model(make_endpoint(server.url, stream=stream)) as model:
        for _ in range(5):
            await model.complete(ASKED)
    assert (len(server.requests), server.connections) == (5, 1)


async def test_a_kept_connection_that_the_server_closed_is_no_outage() -> None:
    closing = make_http_answer(200, b'{"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}')
    async with serve_rudely(closing, closes_after=1) as server, connect_model(make_endpoint(server.url)) as model:
        for _ in range(30):
            assert (await model.complete(ASKED)).text == "yes"
    assert len(server.requests) == 30


async def test_a_connection_lost_while_the_server_works_is_an_outage_and_not_asked_again() -> None:
    async with (
        serve_model_stub(ModelStub(latency=timedelta(seconds=0.4))) as stub,
        connect_model(make_endpoint(stub.base_url)) as model,
    ):
        await model.complete(ASKED)
        stub.faults.order(Fault.RESET)
        with pytest.raises(ModelUnavailable):
            await model.complete(ASKED)
        assert stub.bill.outcomes == {"answered": 1, "reset": 1}


async def test_a_stream_gives_its_connection_back() -> None:
    async with (
        serve_rudely(make_chunked_stream(make_delta("yes", finish_reason="stop"))) as server,
        connect_model(make_endpoint(server.url)) as model,
    ):
        for _ in range(5):
            assert (await model.complete(ASKED)).text == "yes"
    assert (len(server.requests), server.connections) == (5, 1)


async def test_tokens_are_estimated_and_marked_when_the_server_states_none() -> None:
    async with serve_rudely(make_completion("four characters a token", model="m")) as server:
        completion = await ask_model(server.url)
    assert completion.estimated
    assert completion.usage.output_tokens == 6


async def test_a_count_that_no_answer_can_have_used_counts_as_not_stated() -> None:
    for wrong in (2**64 - 1, -1, "7", None):
        async with serve_rudely(make_completion("plain", usage={"prompt_tokens": wrong, "completion_tokens": 1})) as server:
            completion = await ask_model(server.url)
        assert completion.estimated
        assert 0 < completion.usage.input_tokens < 1_000


async def test_a_server_that_ignores_the_wish_for_a_stream_or_a_schema_is_understood() -> None:
    async with serve_rudely(make_completion("plain", usage={"prompt_tokens": 7, "completion_tokens": 1})) as server:
        completion = await ask_model(server.url, stream=True)
    assert (completion.text, completion.usage.input_tokens, completion.estimated) == ("plain", 7, False)


async def test_content_in_parts_and_split_events_are_put_together() -> None:
    last = b'data: {"choices":[{"delta":{"content":"two"},"finish_reason":"stop"}]}\n\n'
    event = b'data: {"choices":[{"delta":{"content":"one "}}]}\n\n' + last
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n: comment\n\n"
    async with serve_rudely([head, *[event[i : i + 7] for i in range(0, len(event), 7)]]) as server:
        assert (await ask_model(server.url)).text == "one two"
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    async with serve_rudely(make_completion(parts)) as server:  # type: ignore[arg-type]
        assert (await ask_model(server.url)).text == "ab"


async def test_chunks_without_choices_are_no_answer_and_no_error() -> None:
    alive = {"object": "chat.completion.chunk", "model": "big", "choices": None}
    usage = {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    async with serve_rudely(
        make_events({"type": "ping"}, alive, make_delta("one "), alive, make_delta("two", finish_reason="stop"), usage)
    ) as server:
        completion = await ask_model(server.url)
    assert (completion.text, completion.model) == ("one two", "big")
    assert (completion.usage.input_tokens, completion.usage.output_tokens, completion.estimated) == (9, 2, False)
    for end in ("[DONE]", ""):
        async with serve_rudely(make_events({"type": "message_start"}, {"type": "ping"}, end=end)) as server:
            with pytest.raises(ModelRefused, match=r"no choices.*message_start"):
                await ask_model(server.url)
    async with serve_rudely(make_events({"type": "ping"}, {"choices": "none"})) as server:
        with pytest.raises(ModelRefused, match="no choices"):
            await ask_model(server.url)


async def test_an_endless_answer_is_cut() -> None:
    endless = make_events(*[make_delta(" ".join(str(i * i + place) for i in range(1_500))) for place in range(40)])
    async with serve_rudely(endless) as server:
        with pytest.raises(ModelRefused, match="longer than 100000 bytes"):
            await ask_model(server.url, max_answer_bytes=100_000)
    async with serve_rudely(make_completion("y" * 200_000)) as server:
        with pytest.raises(ModelRefused, match="longer than"):
            await ask_model(server.url, max_answer_bytes=100_000)


async def test_the_key_is_sent_but_never_shown() -> None:
    echo = make_error_answer(400, f"your request with key {KEY} is odd")
    async with serve_rudely(echo) as server:
        with pytest.raises(ModelRefused) as raised:
            await ask_model(server.url)
    assert f"Bearer {KEY}".encode() in server.requests[0]
    assert KEY not in str(raised.value)
    assert KEY not in repr(make_endpoint("http://x/v1"))


@pytest.mark.parametrize(
    ("message", "gone"),
    [
        ("Unrecognized request argument: stream_options", "stream_options"),
        ("response_format of type json_schema is not available", "response_format"),
        ("'temperature' does not support 0.0 with this model", "temperature"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
    ],
)
async def test_a_field_the_server_does_not_know_is_left_out_from_then_on(message: str, gone: str) -> None:
    async with (
        serve_rudely(make_error_answer(400, message), make_completion("ok")) as server,
        connect_model(make_endpoint(server.url)) as model,
    ):
        assert (await model.complete(ASKED)).text == "ok"
        await model.complete(ASKED)
    assert [gone in body for body in server.bodies] == [True, False, False]
    assert ("max_completion_tokens" in server.bodies[1]) == (gone == "max_tokens")


async def test_a_seed_is_sent_where_one_is_given_and_left_out_where_the_server_knows_none() -> None:
    seeded = ASKED.model_copy(update={"seed": 7})
    refusal = make_error_answer(400, "Unrecognized request argument supplied: seed")
    async with (
        serve_rudely(make_completion("ok"), refusal, make_completion("ok")) as server,
        connect_model(make_endpoint(server.url)) as model,
    ):
        await model.complete(ASKED)
        assert (await model.complete(seeded)).text == "ok"
    assert [body.get("seed") for body in server.bodies] == [None, 7, None]


async def test_it_does_not_retry_by_itself() -> None:
    for answer in (make_error_answer(429, "later"), make_error_answer(500, "broken"), make_error_answer(404, "no")):
        async with serve_rudely(answer) as server:
            with pytest.raises((ModelUnavailable, ModelRefused)):
                await ask_model(server.url)
            assert len(server.requests) == 1


async def test_many_calls_run_at_once() -> None:
    async with (
        serve_model_stub(ModelStub(latency=timedelta(seconds=0.3))) as stub,
        connect_model(make_endpoint(stub.base_url)) as model,
    ):
        requests = [ASKED.model_copy(update={"messages": (Message(role=ChatRole.USER, content=str(i)),)}) for i in range(60)]
        await asyncio.gather(*map(model.complete, requests))
        assert stub.most_in_flight == 60


async def test_the_schema_is_sent_strictly() -> None:
    async with serve_rudely(make_completion("{}")) as server:
        await ask_model(server.url)
    assert server.bodies[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "form", "strict": True, "schema": SCHEMA.schema_},
    }
