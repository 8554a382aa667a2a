"""What a run's watchers are told of a report under way: its outline, then each section when it is written."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from app.domain.run import EventType
from workflows.agents.citation_cleaning import list_cited_ids
from workflows.agents.evidence_book import NO_QUOTE
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.pieces import ReportPiece, join_pieces
from workflows.agents.stage_memory import REPORTER


async def tell_outline(desk: ReportDesk, title: str, headings: Sequence[tuple[int, str]]) -> None:
    """Tell which sections, by number and heading, the report is going to have."""
    sections = [{"section": number, "heading": heading} for number, heading in headings]
    await desk.kit.record.tell(EventType.OUTLINE_MADE, REPORTER, {"title": title, "sections": sections})


async def tell_draft(desk: ReportDesk, title: str, pieces: Sequence[ReportPiece]) -> None:
    """Tell a report that was written at once: its outline, then its sections."""
    sections = [[*own] for _, own in groupby(pieces, key=lambda piece: piece.section)]
    await tell_outline(desk, title, [(own[0].section, own[0].heading) for own in sections])
    await tell_sections(desk, REPORTER, sections)


async def tell_sections(desk: ReportDesk, agent: str, sections: Iterable[Sequence[ReportPiece]]) -> None:
    """Tell the text of sections, before their claims are checked and the whole is made consistent.

    A citation has its passage's number in the book, the same in all sections; the finished report has numbers of its own.
    """
    payloads = [_describe_section(desk, pieces) for pieces in sections]
    await desk.kit.record.tell(EventType.SECTION_WRITTEN, agent, *payloads)


def _describe_section(desk: ReportDesk, pieces: Sequence[ReportPiece]) -> dict[str, Any]:
    first = pieces[0]
    text = f"{first.text}\n\n{join_pieces(pieces[1:])}".strip()
    ids = list_cited_ids(text)
    for short in ids:
        text = text.replace(f"[{short}]", f"[{_number_of(short)}]")
    return {
        "section": first.section,
        "heading": first.heading,
        "markdown": text.replace(f"[{NO_QUOTE}]", "").strip(),
        "citations": [_describe_citation(desk, short) for short in ids],
    }


def _number_of(short: str) -> int:
    return int(short.removeprefix("q"))


def _describe_citation(desk: ReportDesk, short: str) -> dict[str, Any]:
    passage = desk.book[short]
    source = passage.source.model_dump(mode="json", include={"url", "title", "snapshot"})
    return {"n": _number_of(short), "quote": passage.text, "start": passage.start, "end": passage.end, "source": source}
