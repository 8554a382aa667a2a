"""What a changed report says of who wrote it and of what it cites, true of its text as it is now."""

import re

from app.domain.query import Language
from app.domain.report import Report
from workflows.agents.reporting.assembly import TOP_LEVEL
from workflows.agents.wording import say

AT_FIRST = {
    "without_model": "without_model_first",
    "nothing_written": "nothing_written_first",
    "brief_instead": "brief_instead_first",
}
"""Sentences on a whole report by the sources, and what they are once a section is by others."""


def renew_notices(changed: Report, first: int, before: Report, language: Language) -> Report:
    """Return the report, of which section `first` was changed, with notices that are true by now."""
    top = next((place for place in range(first, -1, -1) if before.sections[place].level <= TOP_LEVEL), first)
    heading = before.sections[top].heading
    notices = [_renew_origin(notice, changed, language) for notice in changed.notices]
    if changed.sections[first].changed_by:
        notices = [_leave_out_quoted(notice, heading, language) for notice in notices]
    return changed.model_copy(update={"notices": tuple(notice for notice in notices if notice)})


def _renew_origin(notice: str, changed: Report, language: Language) -> str:
    """Say of a report that was the sources' words whether it still is."""
    by_others = any(section.changed_by for section in changed.sections)
    for always, at_first in AT_FIRST.items():
        false, true = (always, at_first) if by_others else (at_first, always)
        if found := _read_slots(false, notice, language):
            return say(true, language, **found)
    return notice


def _leave_out_quoted(notice: str, heading: str, language: Language) -> str:
    """Leave a section out of those that are quotes; return an empty text if it was the only one."""
    found = _read_slots("sections_quoted", notice, language)
    between, own = say("between_names", language), say("named", language, name=heading)
    names = found["named"].split(between) if found else []
    if own not in names:
        return notice
    left = between.join(name for name in names if name != own)
    return say("sections_quoted", language, named=left, detail=found["detail"]) if left else ""


def _read_slots(what: str, notice: str, language: Language) -> dict[str, str]:
    """Return what fills the slots of a sentence; empty if the notice is not this sentence."""
    pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(say(what, language)))
    found = re.fullmatch(pattern, notice, re.DOTALL)
    return found.groupdict() if found else {}
