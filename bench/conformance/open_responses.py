"""Open Responses: our responses and their streams, held against the published schema with our own requests.

The compliance suite itself is in no package registry. It asks for what is asked here, and for what is out.
"""

import importlib
import inspect
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import requests
from pydantic import BaseModel, ValidationError

from bench.conformance.outcome import NotRun, Outcome, count_checks
from bench.fuzz_api import FuzzTarget, start_target

MODEL = "minddr-quick"
OUT = {
    "calls of a client's functions": "the research systems use tools of their own; such a request is refused with that sentence",
    "calls of a client's functions, streamed": "as above",
    "a picture in the input": "reports need no pictures; such a request is refused with that sentence",
    "a WebSocket": "streams are server-sent events",
    "compaction": "a run keeps its own evidence; there is no conversation to shorten",
}


def report_suite_out(_: Path) -> Outcome:
    """Say why the compliance suite is not run.

    Raises:
        NotRun: always.
    """
    raise NotRun("it is in no package registry; the next row checks what it checks against its schema")


class Schema(NamedTuple):
    """The published schema: the response, a message, and the events of a stream by their type."""

    response: type[BaseModel]
    message: type[BaseModel]
    events: Mapping[str, type[BaseModel]]


def check_open_responses(_: Path) -> Outcome:
    """Ask in every way that we offer; hold each response, item and event against the schema."""
    schema = _load_schema()
    with tempfile.TemporaryDirectory() as folder, start_target(Path(folder) / "api") as target:
        asker = Asker(target, schema)
        return count_checks([(name, check(asker)) for name, check in CHECKS.items()], OUT)


def _load_schema() -> Schema:
    try:
        types = importlib.import_module("openresponses_types.types")
    except ImportError as error:
        raise NotRun("openresponses-types could not be fetched from PyPI") from error
    named: dict[str, Any] = dict(inspect.getmembers(types, inspect.isclass))
    found = [event for name, event in named.items() if name.endswith("StreamingEvent")]
    events = {kind.value: event for event in found for kind in event.model_fields["type"].annotation}
    return Schema(types.ResponseResource, types.Message, events)


class Asker:
    """A client that tells what does not fit the schema."""

    def __init__(self, target: FuzzTarget, schema: Schema) -> None:
        self.schema = schema
        self._address = f"{target.address}/openai/v1/responses"
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {target.key}"

    def send(self, method: str, path: str = "", **body: Any) -> Any:
        """Return the answer as data."""
        return self._session.request(method, self._address + path, json=body or None, timeout=60).json()

    def ask(self, **body: Any) -> Any:
        """Return the response to a question."""
        return self.send("POST", model=MODEL, **body)

    def read_stream(self, **body: Any) -> Iterator[Any]:
        """Yield the events of a response to a question."""
        asked = {"model": MODEL, "stream": True, **body}
        with self._session.post(self._address, json=asked, stream=True, timeout=60) as answer:
            for line in answer.iter_lines():
                if line.startswith(b"data: ") and line != b"data: [DONE]":
                    yield json.loads(line[6:])

    def compare(self, made: Any) -> str:
        """Return what is wrong with a finished response."""
        if wrong := _misfit(self.schema.response, made):
            return wrong
        if made["status"] != "completed" or not any(item["type"] == "message" for item in made["output"]):
            return f"{made['status']}, with {len(made['output'])} items of output"
        return ""


def _misfit(wanted: type[BaseModel], made: Any) -> str:
    try:
        wanted.model_validate(made)
    except ValidationError as error:
        return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:4])
    return ""


def _message(role: str, text: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text}


def _check_stream(asker: Asker) -> str:
    events = list(asker.read_stream(input=[_message("user", "Count the duties of 1660.")]))
    for number, event in enumerate(events):
        wanted = asker.schema.events.get(event["type"])
        wrong = "no event of the schema" if wanted is None else _misfit(wanted, event)
        if wrong or event["sequence_number"] != number:
            return f"{number}, {event['type']}: {wrong or 'out of order'}"
    return asker.compare(events[-1]["response"]) if events else "no events"


def _check_background(asker: Asker) -> str:
    asked = asker.ask(input="Who taxed wool?", background=True)
    return _misfit(asker.schema.response, asked) or _misfit(asker.schema.response, asker.send("GET", f"/{asked['id']}"))


def _check_further_question(asker: Asker) -> str:
    first = asker.ask(input="Who taxed wool?")
    more = asker.ask(input="And linen?", previous_response_id=first["id"], background=True)
    return _misfit(asker.schema.response, more) or ("" if more["previous_response_id"] == first["id"] else "it follows nothing")


def _check_input_items(asker: Asker) -> str:
    asked = asker.ask(input=[_message("user", "I am Ada."), _message("assistant", "Good day."), _message("user", "Who am I?")])
    items = asker.send("GET", f"/{asked['id']}/input_items?order=asc")["data"]
    wrong = [found for item in items if (found := _misfit(asker.schema.message, item))]
    return "; ".join(wrong) if len(items) == 2 else f"{len(items)} items"


def _check_deletion(asker: Asker) -> str:
    asked = asker.ask(input="Who taxed wool?")
    deleted = asker.send("DELETE", f"/{asked['id']}")
    gone = asker.send("GET", f"/{asked['id']}")
    return "" if deleted.get("deleted") is True and "error" in gone else f"{deleted}, then {gone}"


def _check_refusal(asker: Asker) -> str:
    error = asker.send("POST", model="none", input="Who?").get("error", {})
    missing = {"message", "type", "param", "code"} - error.keys()
    return f"an error without {sorted(missing)}" if missing else ""


CHECKS: Mapping[str, Callable[[Asker], str]] = {
    "a message": lambda asker: asker.compare(asker.ask(input=[_message("user", "Who taxed wool?")])),
    "a message in parts": lambda asker: asker.compare(
        asker.ask(input=[_message("user", [{"type": "input_text", "text": "Who taxed wool?"}])])
    ),
    "a text": lambda asker: asker.compare(asker.ask(input="Who taxed wool?", instructions="Be brief.")),
    "a message of the system": lambda asker: asker.compare(
        asker.ask(input=[_message("system", "Write as a sailor."), _message("user", "Who taxed wool?")])
    ),
    "a conversation": lambda asker: asker.compare(
        asker.ask(input=[_message("user", "I am Ada."), _message("assistant", "Good day."), _message("user", "Who am I?")])
    ),
    "a stream": _check_stream,
    "the background": _check_background,
    "a further question": _check_further_question,
    "input items": _check_input_items,
    "deletion": _check_deletion,
    "a refusal": _check_refusal,
}
