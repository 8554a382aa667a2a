"""What a server that fails is to the agents: an outage to wait for, a refusal for good, or a conversation that is too long."""

import asyncio
from datetime import timedelta

import pytest

from app.domain.errors import ContextTooLong, ModelRefused, ModelUnavailable
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_faults import Fault
from tests.support.patience import PATIENCE_S
from tests.workflows.chat_models.model_request import ask_model
from tests.workflows.chat_models.rude_server import (
    make_completion,
    make_delta,
    make_error_answer,
    make_events,
    make_http_answer,
    serve_rudely,
)
from workflows.chat_models.endpoint import Timeouts


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
    async with serve_rudely(make_error_answer(429, "slow down", extra=header)) as server:
        with pytest.raises(ModelUnavailable, match="slow down") as raised:
            await ask_model(server.url)
    assert raised.value.retry_after == (None if wait is None else timedelta(seconds=wait))


@pytest.mark.parametrize("fault", [Fault.SERVER_ERROR, Fault.RESET, Fault.HALF_STREAM, Fault.RATE_LIMITED, Fault.INVALID_JSON])
@pytest.mark.parametrize("stream", [True, False])
async def test_what_is_worth_waiting_for(fault: Fault, stream: bool) -> None:
    async with serve_model_stub() as stub:
        stub.faults.order(fault)
        with pytest.raises(ModelUnavailable):
            await ask_model(stub.base_url, stream=stream)


@pytest.mark.parametrize("fault", [Fault.UNAUTHORIZED, Fault.BAD_REQUEST, Fault.HTML])
async def test_what_will_never_be_answered(fault: Fault) -> None:
    async with serve_model_stub() as stub:
        stub.faults.order(fault, times=9)
        with pytest.raises(ModelRefused):
            await ask_model(stub.base_url)


async def test_nobody_listens() -> None:
    with pytest.raises(ModelUnavailable, match="no answer from"):
        await ask_model("http://127.0.0.1:9/v1")


@pytest.mark.parametrize("stream", [True, False])
async def test_a_silent_server_times_out(stream: bool) -> None:
    short = Timeouts(idle=timedelta(seconds=0.2), first=timedelta(seconds=0.4))
    async with serve_model_stub() as stub:
        stub.faults.order(Fault.HANG)
        with pytest.raises(ModelUnavailable):
            await ask_model(stub.base_url, stream=stream, timeouts=short)


async def test_a_slow_stream_is_not_idle() -> None:
    async with serve_model_stub(ModelStub(drip=timedelta(seconds=0.1), answerer=lambda _: "word " * 40)) as stub:
        stub.faults.order(Fault.DRIP)
        completion = await ask_model(
            stub.base_url, timeouts=Timeouts(idle=timedelta(seconds=PATIENCE_S), first=timedelta(seconds=PATIENCE_S))
        )
    assert completion.text == "word " * 40


async def test_a_stream_that_stops_midway_is_an_outage() -> None:
    async with serve_rudely(make_events(make_delta("half an ans"), end="")) as server:
        with pytest.raises(ModelUnavailable, match="middle"):
            await ask_model(server.url)


async def test_an_error_inside_a_stream_is_told_apart() -> None:
    async with serve_rudely(
        make_events(make_delta("a"), {"error": {"message": "the engine is overloaded", "code": 503}})
    ) as server:
        with pytest.raises(ModelUnavailable, match="overloaded"):
            await ask_model(server.url)
    async with serve_rudely(make_events({"error": {"message": "bad schema", "type": "invalid_request_error"}})) as server:
        with pytest.raises(ModelRefused, match="bad schema"):
            await ask_model(server.url)


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "the request exceeds the available context size. try increasing the context size",
        "prompt is too long: 210000 tokens > 200000 maximum",
    ],
)
async def test_a_conversation_that_is_too_long_is_told_apart(message: str) -> None:
    async with serve_rudely(make_error_answer(400, message)) as server:
        with pytest.raises(ContextTooLong):
            await ask_model(server.url)
    assert "max_tokens" not in server.bodies[-1], "the room for the answer was not given up before the conversation was"


async def test_room_for_the_answer_is_given_up_before_the_conversation() -> None:
    too_long = make_error_answer(
        400, "maximum context length is 4096 tokens, you asked for 4000 in the messages and 4096 in the completion"
    )
    async with serve_rudely(too_long, make_completion("short")) as server:
        assert (await ask_model(server.url)).text == "short"


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (
            make_http_answer(404, b"<html><head><style>p{}</style></head><body>Not Found</body></html>", "text/html"),
            "ends in /v1",
        ),
        (
            make_http_answer(200, b"<!doctype html><title>Welcome</title>", "text/html"),
            "does not speak the chat-completions protocol",
        ),
        (make_http_answer(200, b'{"hello": "world"}'), "no choices"),
        (make_http_answer(200, b"[]"), "does not speak"),
        (make_http_answer(301, b"", extra="Location: https://elsewhere/\r\n"), "final address"),
        (make_http_answer(401, b'{"detail": "no such key"}'), "RUBRICA_LLM_API_KEY"),
        ([b"SSH-2.0-OpenSSH_9.2\r\nConnection: close\r\n\r\n"], "cannot speak to"),
    ],
)
async def test_another_protocol_is_named_with_what_to_do(answer: list[bytes], hint: str) -> None:
    async with serve_rudely(answer) as server:
        with pytest.raises(ModelRefused, match=hint):
            await ask_model(server.url)


async def test_https_against_a_plain_server_is_refused_clearly() -> None:
    plain = await asyncio.start_server(_bad_request, "127.0.0.1", 0)
    with pytest.raises(ModelRefused, match="cannot speak to"):
        await ask_model(f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}/v1")
    plain.close()


async def _bad_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(16)
    writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    writer.close()
