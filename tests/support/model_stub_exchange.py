"""One chat completion on the wire: the wait, the answer or the fault, and the line on the bill."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.model_stub_bill import Bill, BillLine
from tests.support.model_stub_faults import Fault
from tests.support.model_stub_http import Connection, encode_chunk, encode_response, encode_stream_head

CHARS_PER_TOKEN = 4
DELTA_CHARS = 400
DRIP_DELTA_CHARS = 16
HTML = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"
WITHOUT_ANSWER = {
    Fault.SERVER_ERROR: (500, {"error": {"message": "the engine stopped", "type": "server_error"}}),
    Fault.UNAUTHORIZED: (401, {"error": {"message": "no such key", "type": "invalid_request_error"}}),
    Fault.NOT_FOUND: (404, {"error": {"message": "no such path", "type": "invalid_request_error"}}),
    Fault.NO_MODEL: (400, {"error": {"message": "model 'toy' not found, try pulling it first", "type": "api_error"}}),
    Fault.NO_CREDIT: (429, {"error": {"message": "you exceeded your quota", "code": "insufficient_quota"}}),
    Fault.TOO_LONG: (400, {"error": {"message": "this model's maximum context length is 2048 tokens", "type": "api_error"}}),
    Fault.WITHHELD: (451, {"error": {"message": "withheld for legal reasons", "type": "api_error"}}),
    Fault.BAD_REQUEST: (400, {"error": {"message": "cannot use this request", "type": "invalid_request_error"}}),
}


@dataclass(frozen=True, slots=True)
class StubAnswer:
    """The text of an answer, and how it is sent."""

    text: str
    model: str
    stream: bool
    usage_wanted: bool
    prompt_chars: int
    finish_reason: str = "stop"

    @property
    def usage(self) -> dict[str, int]:
        """Tokens, at four characters each."""
        prompt, answer = self.prompt_chars // CHARS_PER_TOKEN, len(self.text) // CHARS_PER_TOKEN
        return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


@dataclass(slots=True)
class ChatExchange:
    """A call that is held for its latency, answered, and billed once: when all of it was sent, or when the caller left."""

    connection: Connection
    bill: Bill
    answer: StubAnswer
    body: str
    key: str
    step: str
    fault: Fault | None
    latency_s: float
    retry_after_s: float
    drip_s: float
    on_close: Callable[["ChatExchange"], None]
    start: float = 0.0
    _timer: asyncio.TimerHandle | None = None
    _rest: list[bytes] = field(default_factory=list)
    _sent_all: bool = False
    _billed: bool = False

    def begin(self) -> None:
        """Start the clock."""
        self.start = time.time()
        if self.fault is not Fault.HANG:
            self._call_later(self.latency_s, self._reply)

    def on_lost(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._close("aborted")

    def on_flushed(self) -> None:
        if self._sent_all:
            self._end_answer()

    def _call_later(self, delay_s: float, call: Callable[[], None]) -> None:
        self._timer = asyncio.get_running_loop().call_later(delay_s, call)

    def _reply(self) -> None:
        match self.fault:
            case None | Fault.WRONG_SCHEMA | Fault.PROSE | Fault.CUT_OFF:
                self._send_last(
                    b"".join(stream_answer(self.answer, DELTA_CHARS)) if self.answer.stream else make_whole_answer(self.answer)
                )
            case Fault.DRIP:
                self._rest = (
                    list(stream_answer(self.answer, DRIP_DELTA_CHARS)) if self.answer.stream else [make_whole_answer(self.answer)]
                )
                self._drip()
            case Fault.STALL:
                data = b"".join(stream_answer(self.answer, DELTA_CHARS))
                self.connection.send(data[: len(data) // 2])
            case Fault.RESET:
                self._close(Fault.RESET)
                self.connection.abort()
            case Fault.HALF_STREAM:
                data = b"".join(stream_answer(self.answer, DELTA_CHARS)) if self.answer.stream else make_whole_answer(self.answer)
                self.connection.send(data[: len(data) // 2])
                self._close(Fault.HALF_STREAM)
                self.connection.close()
            case _:
                self._refuse(self.fault)

    def _refuse(self, fault: Fault) -> None:
        if fault is Fault.RATE_LIMITED:
            error = {"error": {"message": "too many requests", "type": "rate_limit_error"}}
            wait = f"Retry-After: {self.retry_after_s:g}\r\n"
            data = encode_response(429, json.dumps(error).encode(), extra=wait)
        elif fault is Fault.HTML:
            data = encode_response(200, HTML, "text/html")
        elif fault is Fault.INVALID_JSON:
            data = encode_response(200, make_body(self.answer)[:-20])
        else:
            status, error_body = WITHOUT_ANSWER[fault]
            data = encode_response(status, json.dumps(error_body).encode())
        self.connection.send(data)
        self._close(fault)
        self.connection.finish()

    def _drip(self) -> None:
        if len(self._rest) == 1:
            self._send_last(self._rest.pop())
            return
        self.connection.send(self._rest.pop(0))
        self._call_later(self.drip_s, self._drip)

    def _send_last(self, data: bytes) -> None:
        self._sent_all = True
        if self.connection.send(data):
            self._end_answer()

    def _end_answer(self) -> None:
        if self._close("answered"):
            self.connection.finish()

    def _close(self, outcome: str) -> bool:
        if self._billed:
            return False
        self._billed = True
        paid = self.answer.usage if outcome == "answered" else {"prompt_tokens": 0, "completion_tokens": 0}
        self.bill.add(
            BillLine(
                body=self.body,
                key=self.key,
                step=self.step,
                start=self.start,
                end=time.time(),
                outcome=str(outcome),
                input_tokens=paid["prompt_tokens"],
                output_tokens=paid["completion_tokens"],
            )
        )
        self.on_close(self)
        return True


def make_body(answer: StubAnswer) -> bytes:
    """Make a chat.completion object."""
    message = {"role": "assistant", "content": answer.text}
    choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
    named = {"id": "chatcmpl-stub", "object": "chat.completion", "model": answer.model}
    return dump_json({**named, "choices": [choice], "usage": answer.usage})


def make_whole_answer(answer: StubAnswer) -> bytes:
    """Make the answer in one piece."""
    return encode_response(200, make_body(answer))


def stream_answer(answer: StubAnswer, delta_chars: int) -> Iterator[bytes]:
    """Yield the answer as server-sent events: text in deltas, the finish, the usage where it was asked for, and the end mark."""
    yield encode_stream_head()
    for start in range(0, len(answer.text), delta_chars):
        yield make_event(answer, {"choices": [{"index": 0, "delta": {"content": answer.text[start : start + delta_chars]}}]})
    yield make_event(answer, {"choices": [{"index": 0, "delta": {}, "finish_reason": answer.finish_reason}]})
    if answer.usage_wanted:
        yield make_event(answer, {"choices": [], "usage": answer.usage})
    yield encode_chunk(b"data: [DONE]\n\n")
    yield encode_chunk(b"")


def make_event(answer: StubAnswer, fields: Mapping[str, Any]) -> bytes:
    """Make one chat.completion.chunk."""
    named = {"id": "chatcmpl-stub", "object": "chat.completion.chunk", "model": answer.model}
    return encode_chunk(b"data: " + dump_json({**named, **fields}) + b"\n\n")


def dump_json(value: Any) -> bytes:
    """Write compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
