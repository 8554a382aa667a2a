"""What real servers send that the protocol does not foresee: understood where it can be, else told with the reason."""

import gzip
from collections.abc import Sequence

import orjson
import pytest

from app.domain.errors import ContextTooLong, ModelUnavailable, ModelUnusable
from tests.workflows.chat_models.model_request import ask_model
from tests.workflows.chat_models.rude_server import make_delta, make_error_answer, make_events, make_http_answer, serve_rudely

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def told(finish: str = "stop", **message: object) -> bytes:
    return orjson.dumps({"choices": [{"message": {"role": "assistant", **message}, "finish_reason": finish}]})


def zipped(body: bytes) -> list[bytes]:
    small = gzip.compress(body)
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {len(small)}\r\n\r\n"
    return [head.encode() + small]


@pytest.mark.parametrize(
    ("answer", "text", "finish"),
    [
        (make_http_answer(200, told(content='{"a": "cut o', finish="length")), '{"a": "cut o', "length"),
        (make_events(make_delta("a"), {"choices": [{"delta": {}, "finish_reason": "length"}]}, end=""), "a", "length"),
        ([STREAM, b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}'], "a", "stop"),
        ([STREAM, b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]'], "a", "stop"),
        (make_http_answer(200, b'{"choices": [], "usage": {}}'), "", "stop"),
        (make_http_answer(200, told(content="")), "", "stop"),
        (zipped(told(content="zipped")), "zipped", "stop"),
        (make_http_answer(200, told(content="long " * 1_000_000)), "long " * 1_000_000, "stop"),
        (make_http_answer(200, told(content="half a \\u face").replace(b"\\\\u", b"\\ud83d")), "half a \ufffd face", "stop"),
        (make_events(make_delta("XX"), make_delta("YY", finish_reason="stop")), "\U0001f600", "stop"),
        (make_http_answer(200, told(content="caf\xe9").replace("\xe9".encode(), b"\xe9")), "caf\ufffd", "stop"),
    ],
    ids=[
        *("cut off", "no end mark", "no end of line", "no end of line after the mark", "no choice", "empty"),
        *("zipped", "5 MB", "half a character", "a character in two events", "not UTF-8"),
    ],
)
async def test_an_answer_is_understood_or_empty(answer: Sequence[bytes], text: str, finish: str) -> None:
    halves = [piece.replace(b"XX", b"\\ud83d").replace(b"YY", b"\\ude00") for piece in answer]
    async with serve_rudely(halves) as server:
        completion = await ask_model(server.url)
    assert (completion.text, completion.finish_reason) == (text, finish)
    assert orjson.loads(completion.model_dump_json())["text"] == text


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("stated", "finish"),
    [
        *(
            (stated, "length")
            for stated in ("length", "model_length", "max_tokens", "MAX_TOKENS", "content_filter", "abort", "new")
        ),
        *((stated, "stop") for stated in ("stop", "STOP", "tool_calls", "function_call", "end_turn", "eos_token", None)),
    ],
)
async def test_whatever_is_no_good_end_is_a_cut(stated: str | None, finish: str, stream: bool) -> None:
    whole = make_http_answer(200, orjson.dumps({"choices": [{"message": {"content": "a"}, "finish_reason": stated}]}))
    async with serve_rudely(make_events(make_delta("a", finish_reason=stated)) if stream else whole) as server:
        assert (await ask_model(server.url, stream=stream)).finish_reason == finish


async def test_a_last_line_that_was_cut_off_is_an_outage() -> None:
    async with serve_rudely([STREAM, b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choices":[{"del']) as server:
        with pytest.raises(ModelUnavailable, match="middle"):
            await ask_model(server.url)


async def test_thoughts_that_a_server_tells_apart_are_no_answer_and_are_counted() -> None:
    async with serve_rudely(make_http_answer(200, told(content="four", reasoning_content="two and two " * 40))) as server:
        completion = await ask_model(server.url)
    assert (completion.text, completion.estimated) == ("four", True)
    assert completion.usage.output_tokens > 100


@pytest.mark.parametrize(
    "answer",
    [
        make_error_answer(429, "You exceeded your current quota", code="RESOURCE_EXHAUSTED"),
        make_error_answer(429, "insufficient quota this minute", extra="Retry-After: 20\r\n"),
        make_http_answer(200, orjson.dumps({"error": "model not loaded"})),
        make_http_answer(
            503, b"<html><head><title>x</title></head><body><h1>Service Unavailable</h1></body></html>", "text/html"
        ),
    ],
)
async def test_what_time_can_mend_is_waited_for(answer: Sequence[bytes]) -> None:
    async with serve_rudely(answer) as server:
        with pytest.raises(ModelUnavailable, match=r"quota|not loaded|Service Unavailable") as raised:
            await ask_model(server.url)
    assert "<" not in str(raised.value)


@pytest.mark.parametrize(
    "answer",
    [
        make_error_answer(402, "Payment Required"),
        make_error_answer(403, "You exceeded your current quota", type="insufficient_quota"),
        make_error_answer(429, "You exceeded your current quota", code="insufficient_quota"),
        make_error_answer(429, "You exceeded your current quota", type="insufficient_quota"),
        make_error_answer(429, "Your account has insufficient balance"),
        make_http_answer(200, orjson.dumps({"error": {"message": "Insufficient credits", "code": 402}})),
        make_events({"error": {"message": "You exceeded your current quota", "type": "insufficient_quota"}}),
    ],
)
async def test_an_account_that_is_used_up_is_not_waited_for(answer: Sequence[bytes]) -> None:
    async with serve_rudely(answer) as server:
        with pytest.raises(ModelUnusable, match=r"(Payment|quota|balance|credits).*top it up") as raised:
            await ask_model(server.url)
    assert raised.value.certain
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "Input too large", "code": "context_length_exceeded"}}),
        (500, {"error": {"message": "context size exceeded", "code": 500}}),
        (400, [{"error": {"message": "The input token count (12) exceeds the maximum number of tokens allowed (10)."}}]),
        (400, {"error": {"message": "input length and `max_tokens` exceed context limit: 199000 + 4096 > 200000"}}),
        (422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096."}),
    ],
)
async def test_servers_say_in_many_words_that_a_conversation_is_too_long(status: int, body: object) -> None:
    async with serve_rudely(make_http_answer(status, orjson.dumps(body))) as server:
        with pytest.raises(ContextTooLong):
            await ask_model(server.url)
    assert "max_tokens" in server.bodies[0]
    assert len(server.bodies) == 2, "asked once more, without room for the answer, and no field was unlearnt"
