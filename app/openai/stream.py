"""Read a run's log as the events of a streamed response.

This is a pure fold: the same log gives the same events with the same numbers in any process, so that a client that comes back
with `starting_after` misses nothing and gets nothing twice. It begins at the log's beginning, since the numbers count from there.
"""

import re
from collections.abc import Iterator
from typing import Any

import orjson

from app.domain.run import EventType, Run, RunStatus
from app.openai.details import ResponseDetails
from app.openai.objects import OutputItem, OutputMessage, OutputText, Response, StreamEvent, SummaryText
from app.openai.progress import describe_event
from app.openai.reading import instructions_in, make_response, message_of, reasoning_of
from app.reports.storage.reports import StoredReport
from app.runs.storage.events import LoggedEvent

# A delta ends with a paragraph where possible.
DELTA = re.compile(r".{1,1000}?(?:\n\n|\Z)|.{1,1000}", re.DOTALL)
# The event of each change of status. OpenAI has no event for a cancelled response; its status says so.
ENDS = {
    RunStatus.COMPLETED: "response.completed",
    RunStatus.FAILED: "response.failed",
    RunStatus.CANCELLED: "response.incomplete",
    RunStatus.BUDGET_REACHED: "response.incomplete",
    RunStatus.RUNNING: "response.in_progress",
}


class ResponseStream:
    """The fold of a log into events. Give each event of the log to `advance` once, in order, from number 1 on."""

    def __init__(self, details: ResponseDetails) -> None:
        self._details = details
        self._number = 0
        self._instructions: str | None = None
        self._lines: list[str] = []
        self._done: list[OutputItem] = []

    def advance(self, run: Run, event: LoggedEvent, report: StoredReport | None) -> list[StreamEvent]:
        """Return the events that this one means. `run` gives usage and times; `report` is needed only with `report_ready`."""
        return [self._number_event(name, fields) for name, fields in self._read_event(run, event, report)]

    def _number_event(self, name: str, fields: dict[str, Any]) -> StreamEvent:
        number, self._number = self._number, self._number + 1
        return StreamEvent(type=name, sequence_number=number, **fields)

    def _read_event(self, run: Run, event: LoggedEvent, report: StoredReport | None) -> Iterator[tuple[str, dict[str, Any]]]:
        if event.seq == 1:
            yield "response.created", {"response": self._make_snapshot(run, RunStatus.QUEUED)}
            yield "response.queued", {"response": self._make_snapshot(run, RunStatus.QUEUED)}
            return
        self._instructions = self._instructions or instructions_in((event,))
        payload = orjson.loads(event.body)["payload"]
        if (line := describe_event(event.type, payload, run.query.language)) is not None and not self._done:
            yield from self._add_progress(run, line)
        if event.type == EventType.REPORT_READY and report is not None:
            yield from self._end_progress(run)
            yield from self._add_message(run, report)
        elif event.type == EventType.STATUS_CHANGED:
            yield from self._read_status(run, RunStatus(payload["status"]), payload["detail"], payload.get("reason"))

    def _read_status(self, run: Run, status: RunStatus, detail: str, reason: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
        if status.finished:
            yield from self._end_progress(run)
        if status is RunStatus.PAUSED and reason:
            yield "response.incomplete", {"response": self._make_snapshot(run, status, detail, reason)}
        if status in ENDS:
            yield ENDS[status], {"response": self._make_snapshot(run, status, detail)}

    def _make_snapshot(self, run: Run, status: RunStatus, detail: str = "", reason: str | None = None) -> Response:
        output = self._done if status.finished else ()
        return make_response(run, status, self._details, detail, output, self._instructions, reason)

    def _add_progress(self, run: Run, line: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield a line as a part of the reasoning's summary."""
        item = reasoning_of(run.id, (), "in_progress")
        place = {"item_id": item.id, "output_index": 0, "summary_index": len(self._lines)}
        if not self._lines:
            yield "response.output_item.added", {"item": item, "output_index": 0}
        self._lines.append(line)
        yield "response.reasoning_summary_part.added", {**place, "part": SummaryText(text="")}
        yield "response.reasoning_summary_text.delta", {**place, "delta": line}
        yield "response.reasoning_summary_text.done", {**place, "text": line}
        yield "response.reasoning_summary_part.done", {**place, "part": SummaryText(text=line)}

    def _end_progress(self, run: Run) -> Iterator[tuple[str, dict[str, Any]]]:
        if self._lines and not self._done:
            self._done.append(reasoning_of(run.id, self._lines, "completed"))
            yield "response.output_item.done", {"item": self._done[0], "output_index": 0}

    def _add_message(self, run: Run, report: StoredReport) -> Iterator[tuple[str, dict[str, Any]]]:
        whole = message_of(run.id, report)
        yield from list_message_events(whole, len(self._done))
        self._done.append(whole)


def list_message_events(whole: OutputMessage, index: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the names and fields of the events that bring a message, the output item of this index."""
    item, content = {"output_index": index}, whole.content[0]
    place = {**item, "item_id": whole.id, "content_index": 0}
    begun = whole.model_copy(update={"status": "in_progress", "content": []})
    yield "response.output_item.added", {**item, "item": begun}
    yield "response.content_part.added", {**place, "part": OutputText(text="")}
    yield from _split_deltas(content, place)
    yield "response.output_text.done", {**place, "text": content.text, "logprobs": []}
    yield "response.content_part.done", {**place, "part": content}
    yield "response.output_item.done", {**item, "item": whole}


def split_text(text: str) -> list[str]:
    """Return the text in parts that join to the whole, none much longer than a paragraph."""
    return DELTA.findall(text)


def _split_deltas(content: OutputText, place: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the text in parts, each followed by the citations that stand in it."""
    told, sent = 0, 0
    for delta in split_text(content.text):
        yield "response.output_text.delta", {**place, "delta": delta, "logprobs": []}
        sent += len(delta)
        while told < len(content.annotations) and content.annotations[told].end_index <= sent:
            cited = {"annotation": content.annotations[told], "annotation_index": told}
            yield "response.output_text.annotation.added", {**place, **cited}
            told += 1
