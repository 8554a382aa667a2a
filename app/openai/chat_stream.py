"""Read a run's log as the parts of a streamed chat completion.

The report comes as `content` when it is ready. Until then each step comes as `reasoning_content`, which clients that know
reasoning models show apart from the answer, and other clients ignore.
"""

from collections.abc import Iterator, Sequence

import orjson

from app.domain.run import EventType, Run, RunStatus
from app.openai import ids
from app.openai.chat_objects import ChatChunk, ChatCitation, ChatDelta, ChatUsage, ChunkChoice, FinishReason
from app.openai.citations import find_citations
from app.openai.progress import describe_event
from app.openai.reading import has_stopped, waits_for_mending
from app.openai.stream import split_text
from app.reports.storage.reports import StoredReport
from app.runs.storage.events import LoggedEvent

DONE = b"data: [DONE]\n\n"
NO_REPORT = {
    RunStatus.FAILED: "The research failed: {detail}",
    RunStatus.CANCELLED: "The research was cancelled.",
    RunStatus.BUDGET_REACHED: "The budget is spent. Raise it (PUT /v1/runs/{id}/budget) and resume (POST /v1/runs/{id}/resume).",
}
GOES_ON = "The server was restarted before the report was ready. The research goes on at /v1/runs/{id}."


def explain_no_report(run: Run, status: RunStatus, detail: str) -> str:
    """Return the reason why there is no report. A run that has paused by itself says it in its own words."""
    if not has_stopped(run):
        return GOES_ON.format(id=run.id)
    return NO_REPORT.get(status, "{detail}").format(id=run.id, detail=detail)


class ChatStream:
    """The fold of a log into parts. `include_usage` adds a last part with the usage."""

    def __init__(self, include_usage: bool) -> None:
        self._include_usage = include_usage
        self._answered = False
        self._ended = False

    def advance(self, run: Run, event: LoggedEvent, report: StoredReport | None) -> Sequence[bytes]:
        """Return the frames that one event of the log means."""
        return [chunk.to_frame() if isinstance(chunk, ChatChunk) else chunk for chunk in self._read_event(run, event, report)]

    def break_off(self, run: Run) -> Sequence[bytes]:
        """Return the frames that end the answer where the server leaves off following the run."""
        if self._ended:
            return ()
        if self._answered:
            return (_make_chunk(run, ChatDelta(), "stop").to_frame(), DONE)
        return (_make_chunk(run, ChatDelta(refusal=GOES_ON.format(id=run.id)), "length").to_frame(), DONE)

    def _read_event(self, run: Run, event: LoggedEvent, report: StoredReport | None) -> Iterator[ChatChunk | bytes]:
        payload = orjson.loads(event.body)["payload"]
        if event.seq == 1:
            yield _make_chunk(run, ChatDelta(role="assistant", content=""))
        if not self._answered and (line := describe_event(event.type, payload, run.query.language)) is not None:
            yield _make_chunk(run, ChatDelta(reasoning_content=line + "\n"))
        if report is not None:
            self._answered = True
            for piece in split_text(report.markdown):
                yield _make_chunk(run, ChatDelta(content=piece))
            yield _make_chunk(run, ChatDelta(annotations=[ChatCitation.of(citation) for citation in find_citations(report)]))
        if event.type == EventType.STATUS_CHANGED:
            yield from self._end(run, RunStatus(payload["status"]), payload["detail"])

    def _end(self, run: Run, status: RunStatus, detail: str) -> Iterator[ChatChunk | bytes]:
        """Yield the parts that end the answer, where this status ends it.

        A spent budget and a model that refuses do, while nobody has mended it.
        """
        if not (status.finished or (status is run.status and waits_for_mending(run))):
            return
        self._ended = True
        if status is not RunStatus.COMPLETED:
            yield _make_chunk(run, ChatDelta(refusal=explain_no_report(run, status, detail)))
        yield _make_chunk(run, ChatDelta(), "length" if status is RunStatus.BUDGET_REACHED else "stop")
        if self._include_usage:
            yield _make_chunk(run, None).model_copy(update={"usage": ChatUsage.of(run.usage)})
        yield DONE


def _make_chunk(run: Run, delta: ChatDelta | None, finish: FinishReason | None = None) -> ChatChunk:
    return ChatChunk(
        id=f"chatcmpl-{run.id.hex}",
        created=int(run.created_at.timestamp()),
        model=ids.model_of(run),
        choices=[ChunkChoice(delta=delta, finish_reason=finish)] if delta is not None else [],
    )
