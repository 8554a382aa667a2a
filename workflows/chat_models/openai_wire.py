"""The chat-completions protocol: writing a request, reading an answer from one JSON object or from a stream of events."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import orjson

from app.domain.chat import ChatRequest, ResponseSchema
from workflows.agents.parsing import find_json_values
from workflows.checks.answer_faults import CUT_OFF

DATA = b"data:"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DONE = b"[DONE]"
MOST_TOKENS = 10**9
ENDED_WELL = "stop"
_GOOD_ENDS = frozenset(
    {
        *("stop", "eos", "eos_token", "stop_sequence", "word", "end_turn"),
        *("tool_calls", "function_call", "tool_use"),
        *("complete", "completed", "done", "finished"),
    }
)
"""The reasons by which servers say that an answer is whole. Any other, known or not, means that a part of it is missing."""
_FAILED_ENDS = frozenset({"error", "insufficient_system_resource"})
_UPSTREAM_FAILED = {"message": "the server behind it failed in the middle of the answer", "code": 502}
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""What servers call the thinking that they tell apart."""


class ProtocolError(Exception):
    """The response is no chat completion."""


class ServerError(Exception):
    """The response is an error object instead of an answer."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(slots=True)
class CalledTool:
    """A call of a tool that has been received so far; its arguments are JSON."""

    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class ReceivedAnswer:
    """The part of an answer that has been received. Token counts are None if the server stated none.

    `finish_reason` is `stop` or `length`, whatever the server calls it; empty until it states one. `said` counts the characters
    of the text and of the thinking before it.
    """

    pieces: list[str] = field(default_factory=list)
    model: str = ""
    finish_reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    thoughts: list[str] = field(default_factory=list)
    calls: dict[int, "CalledTool"] = field(default_factory=dict)
    said: int = 0

    @property
    def text(self) -> str:
        """The answer's text."""
        return _join_surrogates("".join(self.pieces))

    @property
    def thought(self) -> str:
        """The model's thinking before the answer, if the server sends it; it costs the same as the answer."""
        return "".join(self.thoughts)


def make_request_body(model: str, request: ChatRequest, stream: bool, top_p: float | None = None) -> dict[str, Any]:
    """Return the request's body in the protocol."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role.value, "content": m.content} for m in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
    }
    if top_p is not None:
        body["top_p"] = top_p
    if request.stop:
        body["stop"] = list(request.stop)
    if request.seed is not None:
        body["seed"] = request.seed
    if request.response_schema is not None:
        described = {"name": request.response_schema.name, "strict": True, "schema": request.response_schema.schema_}
        body["response_format"] = {"type": "json_schema", "json_schema": described}
    if stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return body


def read_whole(raw: bytes) -> ReceivedAnswer:
    """Read an answer that came in one piece.

    Raises:
        ServerError: an error object came with a status that promised an answer.
        ProtocolError: it is something else. An answer without a choice is empty: some content filters send that.
    """
    heard = ReceivedAnswer()
    _take_answer(heard, _parse_json(raw.removeprefix(BYTE_ORDER_MARK)), "message")
    return heard


class StreamReader:
    """Reads the bytes of an event stream as they come. `foreign` is the first event until one is part of an answer."""

    def __init__(self) -> None:
        self.heard = ReceivedAnswer()
        self.done = False
        self.foreign = b""
        self._spoke = self._begun = False
        self._rest = self._whole = b""

    def feed(self, data: bytes) -> None:
        """Take more bytes. Raises as `read_whole` does."""
        if not self._begun and b"\n" in data:
            self._begun, self._rest, data = True, b"", (self._rest + data).removeprefix(BYTE_ORDER_MARK)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.startswith(DATA):
                self._read_event(line[len(DATA) :].strip())
            elif self._whole or line.startswith(b"{"):
                self._whole += line  # no event, but one JSON object that its server calls a stream

    def end(self) -> None:
        """End the stream. The last event may lack its line end; one that breaks off is ignored.

        Raises:
            ServerError: the last event is an error object.
        """
        with suppress(ProtocolError):
            self.feed(b"\n")
            if self._whole:
                _take_answer(self.heard, _parse_json(self._whole), "message")
                self.done = True

    @property
    def complete(self) -> bool:
        """Whether the answer is complete; a stream without an end broke off."""
        return self.done or bool(self.heard.finish_reason)

    def _read_event(self, data: bytes) -> None:
        if data == DONE:
            self.done = True
        elif data:
            chunk = _parse_json(data)
            self._spoke = self._spoke or chunk.get("choices") is not None
            self.foreign = b"" if self._spoke else self.foreign or data
            _take_answer(self.heard, chunk, "delta")


def _parse_json(raw: bytes) -> Mapping[str, Any]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        value = _parse_leniently(raw, error)
    if not isinstance(value, dict):
        raise ProtocolError("the answer is not a JSON object")
    return value


def _parse_leniently(raw: bytes, refused: orjson.JSONDecodeError) -> Any:
    """Read JSON with broken characters: half a character, as some tokenizers send, or bytes that are no UTF-8."""
    try:
        return json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise ProtocolError(f"the answer is not JSON ({refused})") from refused


def _join_surrogates(text: str) -> str:
    """Join separated halves of a character, and replace single halves, which can be neither stored nor sent."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _take_answer(heard: ReceivedAnswer, value: Mapping[str, Any], holder: str) -> None:
    if value.get("error"):
        raise ServerError(value["error"])
    choices = value.get("choices")
    if choices is None and holder == "delta":
        choices = []  # a sign of life, or the usage alone
    if not isinstance(choices, list):
        raise ProtocolError("the answer has no choices")
    if choices and isinstance(choices[0], dict):
        _take_choice(heard, choices[0], holder)
    heard.model = _join_surrogates(str(value.get("model") or heard.model))
    _take_usage(heard, value.get("usage"))


def _take_choice(heard: ReceivedAnswer, choice: Mapping[str, Any], holder: str) -> None:
    reason = str(choice.get("finish_reason") or "").casefold()
    if choice.get("error") or reason in _FAILED_ENDS:
        raise ServerError(choice.get("error") or _UPSTREAM_FAILED)
    said = choice.get(holder) or (None if heard.said else choice.get("message"))  # some repeat the whole with the last event
    if isinstance(said, dict):
        heard.pieces.append(_text_of(said.get("content")))
        heard.thoughts.append(next(filter(None, (_text_of(said.get(name)) for name in _THOUGHTS)), ""))
        called = said.get("tool_calls") or [{"function": said.get("function_call")}]
        heard.said += len(heard.pieces[-1]) + len(heard.thoughts[-1])
        for place, call in enumerate(called if isinstance(called, list) else ()):
            heard.said += _take_call(heard.calls, call, place)
    if reason:
        heard.finish_reason = ENDED_WELL if reason in _GOOD_ENDS else CUT_OFF


def _take_call(calls: dict[int, CalledTool], call: Any, place: int) -> int:
    """Take a call of a tool, or the next piece of one, and return its length."""
    stated = call.get("function") if isinstance(call, dict) else None
    if not isinstance(stated, dict):
        return 0
    index = call.get("index")
    known = calls.setdefault(index if isinstance(index, int) else place, CalledTool())
    given = stated.get("arguments") or ""
    piece = given if isinstance(given, str) else orjson.dumps(given).decode()
    known.name, known.arguments = str(stated.get("name") or known.name), known.arguments + piece
    return len(piece)


def find_answer(heard: ReceivedAnswer, schema: ResponseSchema | None) -> str:
    """Return the answer's text. What was asked for in a form may have come as calls of tools, or as the thinking."""
    text = heard.text
    if schema is None or text.strip():
        return text
    if heard.calls:
        return "\n".join(f'{{"name": {json.dumps(c.name)}, "arguments": {c.arguments or "{}"}}}' for c in heard.calls.values())
    if heard.finish_reason == CUT_OFF:
        return text
    required = {*schema.schema_.get("required", ())}
    forms = [value for value in find_json_values(heard.thought) if isinstance(value, dict) and value.keys() >= required]
    return orjson.dumps(forms[-1]).decode() if forms else text


def looks_like_events(raw: bytes) -> bool:
    """Say whether a response is a stream of events, whatever its server calls it."""
    return raw.removeprefix(BYTE_ORDER_MARK).lstrip().startswith((DATA, b"event:", b":"))


def _text_of(content: Any) -> str:
    """Return the text of a content: a string, or a list of parts with text."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _take_usage(heard: ReceivedAnswer, usage: Any) -> None:
    """Take the stated tokens. What the total has more than both, or is thinking and more than the answer, was thought beside it.

    A count of none beside a text is no count.
    """
    if not isinstance(usage, dict):
        return
    asked, answered, total = (_read_count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    details = usage.get("completion_tokens_details")
    thought = _read_count(details.get("reasoning_tokens")) if isinstance(details, dict) else None
    if answered is not None:
        apart = thought if thought and thought > answered else 0
        answered = max(answered + apart, (total or 0) - (asked or total or 0))
    heard.input_tokens = asked or heard.input_tokens
    heard.output_tokens = answered or heard.output_tokens


def _read_count(stated: Any) -> int | None:
    """Return a stated count; None where it is impossible (some servers write -1 as an unsigned number)."""
    return stated if isinstance(stated, int) and 0 <= stated <= MOST_TOKENS else None
