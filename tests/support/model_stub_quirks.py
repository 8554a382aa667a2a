"""Ways of real servers that the stub takes on at demand: the answer it would give, told as one of them tells it.

A quirk is a small function from the request and the answer's text to a whole HTTP response; None where it does not concern this
request. `prose:` and `cite:` are followed by words in which `ID` stands for a passage's id: the whole text, or each citation.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.support.model_stub_http import encode_response

DELTA_CHARS = 40
CITED = re.compile(r" \[(q\d+)\]")
SHOWN = re.compile(r'<passage id="(q\d+)"')
USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
ONCE = ("finding", "outline", "consistency", "critique")
THOUGHT = "The reader wants a toll. Secret plan: 42."


@dataclass(frozen=True, slots=True)
class AskedOf:
    """A request to the stub, the text that answers it, how many came before it, and the schemas that were refused already."""

    body: Mapping[str, Any]
    text: str
    before: int = 0
    refused: set[str] = field(default_factory=set)

    @property
    def schema(self) -> str:
        """The name of the schema of the answer; empty for free text."""
        wanted = self.body.get("response_format") or {}
        return str(wanted.get("json_schema", {}).get("name", ""))

    @property
    def roles(self) -> list[str]:
        """The roles of the conversation, in order."""
        return [message["role"] for message in self.body["messages"]]


Quirk = Callable[[AskedOf], bytes | None]


def apply_quirk(name: str, asked: AskedOf) -> bytes | None:
    """Return the response of a server with this quirk; None where it answers as any other."""
    kind, colon, words = name.partition(":")
    if colon:
        return FORMS[kind](asked, words)
    return QUIRKS[name](asked)


def send(body: Any, kind: str = "application/json", status: int = 200) -> bytes:
    """Make a response of a JSON value, or of text as it is."""
    return encode_response(status, body.encode() if isinstance(body, str) else json.dumps(body).encode(), kind)


def refuse(message: str, **more: Any) -> bytes:
    """Make a refusal."""
    return send({"error": {"message": message, **more}}, status=400)


def make_chunk(delta: Mapping[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Make one event of a stream; `more` are further fields of its choice."""
    return {"id": "c1", "model": "stub", "choices": [{"index": 0, "delta": delta, "finish_reason": finish, **more}]}


def stream(*events: Any, before: str = "", kind: str = "text/event-stream") -> bytes:
    """Make a stream of these events, with its end mark."""
    lines = [f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in (*events, "[DONE]")]
    return send(before + "".join(lines), kind)


def tell(asked: AskedOf, text: str, usage: Mapping[str, int] = USAGE, **more: Any) -> bytes:
    """Make a usual answer, streamed where that was asked for; `more` are further fields of its message."""
    if asked.body.get("stream"):
        deltas = [make_chunk({"content": text[at : at + DELTA_CHARS]}) for at in range(0, len(text), DELTA_CHARS)]
        return stream(make_chunk({"role": "assistant", **more}), *deltas, make_chunk({}, "stop"), {"choices": [], "usage": usage})
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **more}, "finish_reason": "stop"}
    return send({"id": "c1", "model": "stub", "choices": [choice], "usage": usage})


def _think_in(opened: str, closed: str) -> Quirk:
    return lambda asked: tell(asked, f"{opened}{THOUGHT}{closed}{asked.text}")


def _answer_in(field: str) -> Quirk:
    return lambda asked: tell(asked, "", USAGE, **{field: asked.text}) if asked.schema else None


def _refuse_schema(message: str, **more: Any) -> Quirk:
    return lambda asked: refuse(message, **more) if asked.schema else None


def _call_tool(asked: AskedOf) -> bytes | None:
    call = {"index": 0, "id": "t1", "type": "function", "function": {"name": asked.schema, "arguments": asked.text}}
    return tell(asked, "", tool_calls=[call]) if asked.schema else None


def _write_tool_call(asked: AskedOf) -> bytes | None:
    said = f'<tool_call>\n{{"name": "{asked.schema}", "arguments": {asked.text}}}\n</tool_call>'
    return tell(asked, said) if asked.schema else None


def _refuse_once(asked: AskedOf) -> bytes | None:
    if asked.schema not in ONCE or asked.schema in asked.refused:
        return None
    asked.refused.add(asked.schema)
    more = {"type": "invalid_request_error", "code": "json_validate_failed", "failed_generation": "{}"}
    return refuse("Generated JSON does not match the expected schema. See 'failed_generation'.", **more)


def _refuse_system(asked: AskedOf) -> bytes | None:
    return refuse("System role not supported", type="BadRequestError", code=400) if "system" in asked.roles else None


def _refuse_neighbours(asked: AskedOf) -> bytes | None:
    said = [role for role in asked.roles if role != "system"]
    alike = any(one == other for one, other in pairwise(said))
    return refuse("Conversation roles must alternate user/assistant/user/...", code=400) if alike else None


def _fail_in_choice(asked: AskedOf) -> bytes | None:
    if asked.before % 3 != 2:
        return None
    failed = {"index": 0, "error": {"code": 502, "message": "Upstream error"}, "finish_reason": "error"}
    return send({"id": "x", "model": "stub", "choices": [failed | {"message": {"content": asked.text[:20]}}]})


def _repeat_at_end(asked: AskedOf) -> bytes:
    deltas = [make_chunk({"content": asked.text[at : at + DELTA_CHARS]}) for at in range(0, len(asked.text), DELTA_CHARS)]
    whole = {"role": "assistant", "content": asked.text}
    return stream(*deltas, make_chunk({}, "stop", message=whole), {"choices": [], "usage": USAGE})


def _refuse_stream(asked: AskedOf) -> bytes | None:
    message = "Your organization must be verified to stream this model."
    return refuse(message, param="stream", code="unsupported_value") if asked.body.get("stream") else None


def _stream_as(kind: str, before: str) -> Quirk:
    return lambda asked: stream(make_chunk({"content": asked.text}), make_chunk({}, "stop"), before=before, kind=kind)


def _write_prose(asked: AskedOf, words: str) -> bytes | None:
    """Write these words as the whole text, each `ID` the next passage's id."""
    shown = SHOWN.findall(asked.body["messages"][-1]["content"])
    if asked.schema or not shown:
        return None
    names = iter(shown * words.count("ID"))
    return tell(asked, re.sub("ID", lambda _: next(names), words))


def _cite_in(asked: AskedOf, words: str) -> bytes | None:
    if asked.schema not in ("", "consistency") or not CITED.search(asked.text):
        return None
    return tell(asked, CITED.sub(lambda cited: " " + words.replace("ID", cited[1]), asked.text))


FORMS: dict[str, Callable[[AskedOf, str], bytes | None]] = {"prose": _write_prose, "cite": _cite_in}
QUIRKS: dict[str, Quirk] = {
    "ok": lambda asked: tell(asked, asked.text),
    "think_magistral": _think_in("[THINK]", "[/THINK]"),
    "think_kimi": _think_in("◁think▷", "◁/think▷"),
    "think_seed": _think_in("<seed:think>", "</seed:think>"),
    "reasoning_content": _answer_in("reasoning_content"),
    "reasoning": _answer_in("reasoning"),
    "llamacpp_grammar": _refuse_schema("Failed to initialize samplers: failed to parse grammar", type="invalid_request_error"),
    "xgrammar": _refuse_schema("The provided JSON schema contains features not supported by xgrammar."),
    "gemini_schema": _refuse_schema(
        "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'generation_config.response_schema'", code=400
    ),
    "groq_once": _refuse_once,
    "no_system": _refuse_system,
    "alternate": _refuse_neighbours,
    "choice_error": _fail_in_choice,
    "usage_total": lambda asked: tell(asked, asked.text, {**USAGE, "total_tokens": 1150}),
    "usage_zero": lambda asked: tell(asked, asked.text, dict.fromkeys(USAGE, 0)),
    "tool_call_answer": _call_tool,
    "tool_call_text": _write_tool_call,
    "last_message_again": _repeat_at_end,
    "sse_as_plain": _stream_as("text/plain; charset=utf-8", ""),
    "bom": _stream_as("text/event-stream", "\ufeff"),
    "org_stream": _refuse_stream,
}
