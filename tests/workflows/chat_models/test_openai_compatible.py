import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from app.domain.chat import ChatRequest, Completion, Message, ResponseSchema, Role
from app.domain.errors import ContextTooLong, ModelRefused, ModelUnavailable
from tests.support.model_stub import ModelStub, model_stub
from tests.support.model_stub_faults import Fault
from tests.workflows.chat_models.rude_server import chunked, delta, events, http, refused, rude_server, said
from workflows.chat_models.endpoint import Endpoint, Prices, Timeouts
from workflows.chat_models.openai_compatible import connected

SCHEMA = ResponseSchema(
    name="form",
    schema={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False},
)
ASKED = ChatRequest(messages=(Message(role=Role.USER, content="What were tariffs for?"),), response_schema=SCHEMA)
KEY = "sk-very-secret-0123456789"


def endpoint(url: str, **more: object) -> Endpoint:
    return Endpoint(base_url=url, model="stub", api_key=KEY, prices=Prices(Decimal(2), Decimal("10.5")), **more)  # type: ignore[arg-type]


async def ask(url: str, request: ChatRequest = ASKED, **more: object) -> Completion:
    async with connected(endpoint(url, **more)) as model:
        return await model.complete(request)


@pytest.mark.parametrize("stream", [True, False])
async def test_answers_with_tokens_and_cost(stream: bool) -> None:
    async with model_stub() as stub:
        completion = await ask(stub.base_url, stream=stream)
    usage = completion.usage
    assert completion.text.startswith('{"a":')
    assert (completion.model, completion.finish_reason, completion.estimated) == ("stub", "stop", False)
    assert usage.model_calls == 1
    assert usage.input_tokens > 0
    assert usage.cost_microusd == round(2 * usage.input_tokens + 10.5 * usage.output_tokens)


async def test_streamed_and_whole_answers_are_the_same() -> None:
    async with model_stub(ModelStub(answerer=lambda _: "关税 \U0001f600 " * 300)) as stub:
        whole, streamed = await ask(stub.base_url, stream=False), await ask(stub.base_url, stream=True)
    assert whole.text == streamed.text == "关税 \U0001f600 " * 300


@pytest.mark.parametrize("stream", [True, False])
async def test_one_connection_serves_many_calls(stream: bool) -> None:
    async with rude_server(said("yes")) as server, connected(endpoint(server.url, stream=stream)) as model:
        for _ in range(5):
            await model.complete(ASKED)
    assert (len(server.requests), server.connections) == (5, 1)


async def test_a_kept_connection_that_the_server_closed_is_no_outage() -> None:
    closing = http(200, b'{"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}')
    async with rude_server(closing, closes_after=1) as server, connected(endpoint(server.url)) as model:
        for _ in range(30):
            assert (await model.complete(ASKED)).text == "yes"
    assert len(server.requests) == 30


async def test_a_connection_lost_while_the_server_works_is_an_outage_and_not_asked_again() -> None:
    async with model_stub(ModelStub(latency=timedelta(seconds=0.4))) as stub, connected(endpoint(stub.base_url)) as model:
        await model.complete(ASKED)
        stub.faults.order(Fault.RESET)
        with pytest.raises(ModelUnavailable):
            await model.complete(ASKED)
        assert stub.bill.outcomes == {"answered": 1, "reset": 1}


async def test_a_stream_gives_its_connection_back() -> None:
    async with rude_server(chunked(delta("yes", finish_reason="stop"))) as server, connected(endpoint(server.url)) as model:
        for _ in range(5):
            assert (await model.complete(ASKED)).text == "yes"
    assert (len(server.requests), server.connections) == (5, 1)


async def test_tokens_are_estimated_and_marked_when_the_server_states_none() -> None:
    async with rude_server(said("four characters a token", model="m")) as server:
        completion = await ask(server.url)
    assert completion.estimated
    assert completion.usage.output_tokens == 6


async def test_a_count_that_no_answer_can_have_used_counts_as_not_stated() -> None:
    for wrong in (2**64 - 1, -1, "7", None):
        async with rude_server(said("plain", usage={"prompt_tokens": wrong, "completion_tokens": 1})) as server:
            completion = await ask(server.url)
        assert completion.estimated
        assert 0 < completion.usage.input_tokens < 1_000


async def test_a_server_that_ignores_the_wish_for_a_stream_or_a_schema_is_understood() -> None:
    async with rude_server(said("plain", usage={"prompt_tokens": 7, "completion_tokens": 1})) as server:
        completion = await ask(server.url, stream=True)
    assert (completion.text, completion.usage.input_tokens, completion.estimated) == ("plain", 7, False)


async def test_content_in_parts_and_split_events_are_put_together() -> None:
    last = b'data: {"choices":[{"delta":{"content":"two"},"finish_reason":"stop"}]}\n\n'
    event = b'data: {"choices":[{"delta":{"content":"one "}}]}\n\n' + last
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n: comment\n\n"
    async with rude_server([head, *[event[i : i + 7] for i in range(0, len(event), 7)]]) as server:
        assert (await ask(server.url)).text == "one two"
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    async with rude_server(said(parts)) as server:  # type: ignore[arg-type]
        assert (await ask(server.url)).text == "ab"


async def test_chunks_without_choices_are_no_answer_and_no_error() -> None:
    alive = {"object": "chat.completion.chunk", "model": "big", "choices": None}
    usage = {"usage": {"prompt_tokens": 9, "completion_tokens": 2}}
    async with rude_server(
        events({"type": "ping"}, alive, delta("one "), alive, delta("two", finish_reason="stop"), usage)
    ) as server:
        completion = await ask(server.url)
    assert (completion.text, completion.model) == ("one two", "big")
    assert (completion.usage.input_tokens, completion.usage.output_tokens, completion.estimated) == (9, 2, False)
    for end in ("[DONE]", ""):
        async with rude_server(events({"type": "message_start"}, {"type": "ping"}, end=end)) as server:
            with pytest.raises(ModelRefused, match=r"no choices.*message_start"):
                await ask(server.url)
    async with rude_server(events({"type": "ping"}, {"choices": "none"})) as server:
        with pytest.raises(ModelRefused, match="no choices"):
            await ask(server.url)


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        ("Retry-After: 7\r\n", 7.0),
        ("Retry-After: 1.5\r\n", 1.5),
        ("retry-after-ms: 250\r\n", 0.25),
        ("Date: Fri, 20 Nov 2026 10:00:00 GMT\r\nRetry-After: Fri, 20 Nov 2026 10:00:40 GMT\r\n", 40.0),
        ("Date: Fri, 20 Nov 2026 10:00:00 GMT\r\nRetry-After: Fri, 20 Nov 2026 09:00:00 GMT\r\n", 0.0),
        ("Retry-After: soon\r\n", None),
        ("", None),
    ],
)
async def test_a_rate_limit_says_how_long_to_wait(header: str, wait: float | None) -> None:
    async with rude_server(refused(429, "slow down", extra=header)) as server:
        with pytest.raises(ModelUnavailable, match="slow down") as raised:
            await ask(server.url)
    assert raised.value.retry_after == (None if wait is None else timedelta(seconds=wait))


@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.RESET, Fault.HALF_STREAM, Fault.RATE_LIMITED, Fault.INVALID_JSON])
@pytest.mark.parametrize("stream", [True, False])
async def test_what_is_worth_waiting_for(fault: Fault, stream: bool) -> None:
    async with model_stub() as stub:
        stub.faults.order(fault)
        with pytest.raises(ModelUnavailable):
            await ask(stub.base_url, stream=stream)


@pytest.mark.parametrize("fault", [Fault.UNAUTHORIZED, Fault.BAD_REQUEST, Fault.HTML])
async def test_what_will_never_be_answered(fault: Fault) -> None:
    async with model_stub() as stub:
        stub.faults.order(fault)
        with pytest.raises(ModelRefused):
            await ask(stub.base_url)


async def test_nobody_listens() -> None:
    with pytest.raises(ModelUnavailable, match="no answer from"):
        await ask("http://127.0.0.1:9/v1")


@pytest.mark.parametrize("stream", [True, False])
async def test_a_silent_server_times_out(stream: bool) -> None:
    short = Timeouts(idle=timedelta(seconds=0.2), total=timedelta(seconds=0.4))
    async with model_stub() as stub:
        stub.faults.order(Fault.HANG)
        with pytest.raises(ModelUnavailable):
            await ask(stub.base_url, stream=stream, timeouts=short)


async def test_a_slow_stream_is_not_idle() -> None:
    async with model_stub(ModelStub(drip=timedelta(seconds=0.02), answerer=lambda _: "word " * 40)) as stub:
        stub.faults.order(Fault.DRIP)
        completion = await ask(stub.base_url, timeouts=Timeouts(idle=timedelta(seconds=0.3), total=timedelta(seconds=20)))
    assert completion.text == "word " * 40


async def test_a_stream_that_stops_midway_is_an_outage() -> None:
    async with rude_server(events(delta("half an ans"), end="")) as server:
        with pytest.raises(ModelUnavailable, match="middle"):
            await ask(server.url)


async def test_an_error_inside_a_stream_is_told_apart() -> None:
    async with rude_server(events(delta("a"), {"error": {"message": "the engine is overloaded", "code": 503}})) as server:
        with pytest.raises(ModelUnavailable, match="overloaded"):
            await ask(server.url)
    async with rude_server(events({"error": {"message": "bad schema", "type": "invalid_request_error"}})) as server:
        with pytest.raises(ModelRefused, match="bad schema"):
            await ask(server.url)


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "the request exceeds the available context size. try increasing the context size",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
async def test_a_conversation_that_is_too_long_is_told_apart(message: str) -> None:
    async with rude_server(refused(400, message)) as server:
        with pytest.raises(ContextTooLong):
            await ask(server.url)
    assert "max_tokens" not in server.bodies[-1], "the room for the answer was not given up before the conversation was"


async def test_room_for_the_answer_is_given_up_before_the_conversation() -> None:
    too_long = refused(
        400, "maximum context length is 4096 tokens, you asked for 4000 in the messages and 4096 in the completion"
    )
    async with rude_server(too_long, said("short")) as server:
        assert (await ask(server.url)).text == "short"


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (http(404, b"<html><head><style>p{}</style></head><body>Not Found</body></html>", "text/html"), "ends in /v1"),
        (http(200, b"<!doctype html><title>Welcome</title>", "text/html"), "does not speak the chat-completions protocol"),
        (http(200, b'{"hello": "world"}'), "no choices"),
        (http(200, b"[]"), "does not speak"),
        (http(301, b"", extra="Location: https://elsewhere/\r\n"), "final address"),
        (http(401, b'{"detail": "no such key"}'), "RUBRICA_LLM_API_KEY"),
        ([b"SSH-2.0-OpenSSH_9.2\r\nConnection: close\r\n\r\n"], "cannot speak to"),
    ],
)
async def test_another_protocol_is_named_with_what_to_do(answer: list[bytes], hint: str) -> None:
    async with rude_server(answer) as server:
        with pytest.raises(ModelRefused, match=hint):
            await ask(server.url)


async def test_https_against_a_plain_server_is_refused_clearly() -> None:
    plain = await asyncio.start_server(_bad_request, "127.0.0.1", 0)
    with pytest.raises(ModelRefused, match="cannot speak to"):
        await ask(f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}/v1")
    plain.close()


async def _bad_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(16)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    writer.close()


async def test_an_endless_answer_is_cut() -> None:
    endless = events(*[delta("x" * 10_000) for _ in range(40)])
    async with rude_server(endless) as server:
        with pytest.raises(ModelRefused, match="longer than 100000 bytes"):
            await ask(server.url, max_answer_bytes=100_000)
    async with rude_server(said("y" * 200_000)) as server:
        with pytest.raises(ModelRefused, match="longer than"):
            await ask(server.url, max_answer_bytes=100_000)


async def test_the_key_is_sent_but_never_shown() -> None:
    echo = refused(400, f"your request with key {KEY} is odd")
    async with rude_server(echo) as server:
        with pytest.raises(ModelRefused) as raised:
            await ask(server.url)
    assert f"Bearer {KEY}".encode() in server.requests[0]
    assert KEY not in str(raised.value)
    assert KEY not in repr(endpoint("http://x/v1"))


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
    async with rude_server(refused(400, message), said("ok")) as server, connected(endpoint(server.url)) as model:
        assert (await model.complete(ASKED)).text == "ok"
        await model.complete(ASKED)
    assert [gone in body for body in server.bodies] == [True, False, False]
    assert ("max_completion_tokens" in server.bodies[1]) == (gone == "max_tokens")


async def test_it_does_not_retry_by_itself() -> None:
    for answer in (refused(429, "later"), refused(500, "broken"), refused(400, "no")):
        async with rude_server(answer) as server:
            with pytest.raises((ModelUnavailable, ModelRefused)):
                await ask(server.url)
            assert len(server.requests) == 1


async def test_many_calls_run_at_once() -> None:
    async with model_stub(ModelStub(latency=timedelta(seconds=0.3))) as stub, connected(endpoint(stub.base_url)) as model:
        requests = [ASKED.model_copy(update={"messages": (Message(role=Role.USER, content=str(i)),)}) for i in range(60)]
        await asyncio.gather(*map(model.complete, requests))
        assert stub.most_in_flight == 60


async def test_the_schema_is_sent_strictly() -> None:
    async with rude_server(said("{}")) as server:
        await ask(server.url)
    assert server.bodies[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "form", "strict": True, "schema": SCHEMA.schema_},
    }
