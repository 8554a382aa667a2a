"""Who may read what a run gathered, and what its log tells everybody else.

The database decides it from the collections that the evidence came of (`may_read_evidence` in migrations/sql).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from app.database.engine import Executor, translate_outages
from app.domain.run import EventType
from app.runs.storage.events import LoggedEvent

MAY_READ = "SELECT may_read_evidence($1)"
ACCESS = "SELECT may_read_evidence($1) AS readable, EXISTS (SELECT FROM collection_runs WHERE run_id = $1) AS may_change"
WITHHELD = "this note may repeat a document that you may not read"
Payload = dict[str, Any]


class EvidenceAccess(NamedTuple):
    """Whether the acting person may read a run's evidence now, and whether that may change: it never does without collections."""

    readable: bool
    may_change: bool


async def may_read(database: Executor, run_id: UUID) -> bool:
    """Say whether the acting person may read the run's evidence now."""
    async with translate_outages():
        return bool(await database.fetchval(MAY_READ, run_id))


async def get_access(database: Executor, run_id: UUID) -> EvidenceAccess:
    """Return whether the acting person may read the run's evidence now."""
    async with translate_outages():
        row = await database.fetchrow(ACCESS, run_id)
    assert row is not None
    return EvidenceAccess(*row)


def withhold_words(events: Sequence[LoggedEvent]) -> list[LoggedEvent]:
    """Return the events without what repeats evidence.

    Agents put words of what they read into what they search for next, and into outlines, drafts and notes.
    """
    return [_withhold_words(event) for event in events]


def _withhold_words(event: LoggedEvent) -> LoggedEvent:
    reduce = _REDUCED.get(event.type)
    if reduce is None:
        return event
    told = orjson.loads(event.body)
    told["payload"] = reduce(told["payload"])
    return event._replace(body=orjson.dumps(told))


def _reduce_call(payload: Payload) -> Payload:
    numbers = {name: value for name, value in payload.items() if isinstance(value, int)}
    return {"tool": payload["tool"], **numbers}


def _reduce_outline(payload: Payload) -> Payload:
    return {"title": "", "sections": [{"section": section["section"], "heading": ""} for section in payload.get("sections", ())]}


def _reduce_draft(payload: Payload) -> Payload:
    return {"section": payload["section"], "heading": ""}


def _reduce_warning(payload: Payload) -> Payload:
    return {"message": WITHHELD}


_REDUCED: Mapping[str, Callable[[Payload], Payload]] = {
    EventType.TOOL_CALL: _reduce_call,
    EventType.OUTLINE_MADE: _reduce_outline,
    EventType.SECTION_WRITTEN: _reduce_draft,
    EventType.WARNING: _reduce_warning,
}
"""What may repeat evidence, and what such an event tells without it. Plans do not: a second one with such words is not made."""
