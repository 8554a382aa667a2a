"""What a run's watchers are told of a report under way: its outline, then each section when it is written."""

from typing import Any

from app.domain.run import EventType
from workflows.agents.citation_cleaning import list_cited_ids
from workflows.agents.quote_book import NO_QUOTE
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.outline import Outline, OutlinedSection
from workflows.agents.stage_memory import REPORTER


async def tell_outline(desk: ReportDesk, outline: Outline) -> None:
    """Tell which sections the report is going to have."""
    sections = [{"section": section.number, "heading": section.heading} for section in outline.sections]
    await desk.kit.record.tell(EventType.OUTLINE_MADE, REPORTER, {"title": outline.title, "sections": sections})


async def tell_section(desk: ReportDesk, agent: str, section: OutlinedSection, text: str) -> None:
    """Tell the text of a section, before its claims are checked and the whole is made consistent.

    A citation has its quote's number in the book, which is the same in all sections; the finished report has numbers of its own.
    """
    ids = list_cited_ids(text)
    for short in ids:
        text = text.replace(f"[{short}]", f"[{_number_of(short)}]")
    payload = {
        "section": section.number,
        "heading": section.heading,
        "markdown": text.replace(f"[{NO_QUOTE}]", "").strip(),
        "citations": [_describe_citation(desk, short) for short in ids],
    }
    await desk.kit.record.tell(EventType.SECTION_WRITTEN, agent, payload)


def _number_of(short: str) -> int:
    return int(short.removeprefix("q"))


def _describe_citation(desk: ReportDesk, short: str) -> dict[str, Any]:
    quote = desk.book[short]
    source = quote.source.model_dump(mode="json", include={"url", "title", "snapshot"})
    return {"n": _number_of(short), "quote": quote.text, "start": quote.start, "end": quote.end, "source": source}
