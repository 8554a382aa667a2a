"""Reads from an event log which phase a run was in, so that a kill can be aimed at a phase and counted under it."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum

from rubrica_client.models import RunEvent


class Phase(StrEnum):
    """The phases a kill must hit."""

    STARTING = "accepted, not begun"
    PLAN = "plan"
    SEARCH = "search"
    OUTLINE = "report outline"
    SECTIONS = "parallel sections"
    FINAL = "final pass"


AIMED_AT = (Phase.PLAN, Phase.SEARCH, Phase.OUTLINE, Phase.SECTIONS)
REPORT_AGENT = "report"
SECTION_AGENT = "report/"
Window = tuple[datetime, datetime]


def count_turns_before_sections(events: Sequence[RunEvent]) -> int:
    """Count the model calls of the report agent before sections are written in parallel."""
    first_section = min((e.seq for e in events if _is_turn(e) and e.agent.startswith(SECTION_AGENT)), default=None)
    return sum(1 for e in _list_turns(events, REPORT_AGENT) if first_section is None or e.seq < first_section)


def find_windows(events: Sequence[RunEvent]) -> dict[Phase, Window]:
    """Return when each phase began and ended in an uninterrupted run."""
    outlined = _list_turns(events, REPORT_AGENT)[count_turns_before_sections(events) - 1].at
    searches = [e.at for e in events if e.agent.startswith("search/") or _stage_of(e).startswith("search/")]
    sections = [e.at for e in events if _is_turn(e) and e.agent.startswith(SECTION_AGENT)]
    return {
        Phase.PLAN: (_find_time(events, "stage_started", "plan"), _find_time(events, "stage_finished", "plan")),
        Phase.SEARCH: (min(searches), max(searches)),
        Phase.OUTLINE: (_find_time(events, "stage_started", "report"), outlined),
        Phase.SECTIONS: (outlined, max(sections, default=outlined)),
    }


def phase_of(events: Iterable[RunEvent], outline_turns: int, sections: int) -> Phase:
    """Return the phase of a run whose log so far is `events`; the last two arguments are those of the uninterrupted run."""
    seen = list(events)
    stages = {_stage_of(e) for e in seen if e.type == "stage_started"}
    if "report" in stages:
        if len(_list_turns(seen, REPORT_AGENT)) < outline_turns:
            return Phase.OUTLINE
        written = sum(1 for e in seen if _is_turn(e) and e.agent.startswith(SECTION_AGENT))
        return Phase.SECTIONS if written < sections else Phase.FINAL
    if any(stage.startswith("search/") for stage in stages):
        return Phase.SEARCH
    return Phase.PLAN if "plan" in stages else Phase.STARTING


def has_begun(events: Iterable[RunEvent], aimed: Phase, outline_turns: int) -> bool:
    """Tell whether the log shows that this phase has begun."""
    seen = list(events)
    return list(Phase).index(phase_of(seen, outline_turns, sections=10**6)) >= list(Phase).index(aimed)


def count_section_turns(events: Sequence[RunEvent]) -> int:
    """Count the model calls of section writers."""
    return sum(1 for e in events if _is_turn(e) and e.agent.startswith(SECTION_AGENT))


def _list_turns(events: Iterable[RunEvent], agent: str) -> list[RunEvent]:
    return [e for e in events if _is_turn(e) and e.agent == agent]


def _is_turn(event: RunEvent) -> bool:
    return event.type == "model_call"


def _stage_of(event: RunEvent) -> str:
    return str(event.payload.get("stage", ""))


def _find_time(events: Iterable[RunEvent], kind: str, stage: str) -> datetime:
    return next(e.at for e in events if e.type == kind and _stage_of(e) == stage)
