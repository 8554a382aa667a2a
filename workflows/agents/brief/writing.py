"""The report agent without a model: the best quotations of what was found, by source, in order of worth."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from app.domain.budget import StopReason
from app.domain.citations import MARKER
from app.domain.evidence import Finding, Quote
from app.domain.options import ReportFormat, ReportStyle
from app.domain.plan import ResearchPlan
from app.domain.query import Language, ResearchQuery
from app.domain.report import Report, Section
from app.domain.writer import Arrangement
from retrieval.language.blocks import count_words
from workflows.agents.brief.layout import escape_markdown, lay_out, quote_text
from workflows.agents.brief.revising import make_notice
from workflows.agents.brief.wording import format_date, tell, title_of
from workflows.agents.citation_cleaning import clean_citations, has_citation, remove_citations
from workflows.agents.cited_statements import put_markers
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.kit import Kit
from workflows.agents.simple_plan import shorten_title
from workflows.agents.wording import PART_NOTICES, say

MOST_ROWS = 20
SHOWN = 0.6
"""The share of the best relevance below which a quotation is beside the point."""
_ASKS_FOR_CHANGE = re.compile(
    r"\bhow (?:has|have|did)\b.*\bchanged?\b|\bover the (?:years|decades|centuries)\b|\bover time\b|[如怎].*[变變]化|历年|歷年",
    re.IGNORECASE,
)
LEADING = 4
"""The place up to which a statement comes first: the head of its table, or what it points back to, may stand before it."""
SHORTER = 0.5
"""The share of the usual words that a reader gets who asked for the answer alone."""


async def write_brief(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
    """Write the brief (MindDR section 3.1, report agent) from findings of searches with or without a model."""
    titles = [remove_citations(plan.get_subtask(finding.subtask_id).title) for finding in findings]
    parts = [(title or say("untitled", query.language), finding) for title, finding in zip(titles, findings, strict=True)]
    told = [(title, finding) for title, finding in parts if finding.quotes]
    sections = [section for title, finding in told for section in _write_part(title, finding, len(told), query, kit)]
    quotes = {quote.key: quote for finding in findings for quote in finding.quotes}
    shown = _apply_format(sections, quotes, query.style, query.language) or [_say_nothing(findings, query.language)]
    cited = dict.fromkeys(key for section in shown for key in MARKER.findall(section.body))
    return Report(
        title=shorten_title(query.question),
        sections=tuple(shown),
        quotes=tuple(quotes[key] for key in cited if key in quotes),
        conflicts=tuple(conflict for finding in findings for conflict in finding.conflicts),
        notices=tuple(_list_notices(query, plan, parts)),
    )


def _write_part(title: str, finding: Finding, parts: int, query: ResearchQuery, kit: Kit) -> list[Section]:
    """Write the sections on one part of the question: what a model wrote on it, then a section a source."""
    level = 2 if parts == 1 else 3
    chosen = _take_best(finding, _count_words_wanted(parts, query.style, kit))
    sections = [
        Section(heading=title_of(own[0].source, query.language), level=level, body=lay_out(own, finding.forms))
        for own in _group_by_source(chosen, _find_arrangement(query))
    ]
    lead = "\n\n".join(_list_prose(finding) or _lead_with(chosen[0], sections[0].body, finding))
    if parts > 1:
        return [Section(heading=title, body=lead), *sections]
    return [sections[0].model_copy(update={"body": f"{lead}\n\n{sections[0].body}".strip()}), *sections[1:]]


def _lead_with(best: Quote, body: str, finding: Finding) -> list[str]:
    """Return the best statement as a paragraph of its own, unless the body begins with it below its headings."""
    block = next((block for block in body.split("\n\n") if not block.startswith("**")), "")
    return [] if best.key in MARKER.findall(block)[:LEADING] else [lay_out([best], finding.forms)]


def _count_words_wanted(parts: int, style: ReportStyle | None, kit: Kit) -> float:
    """Return the words for one of several parts: two parts together have half as many again as one."""
    scale = SHORTER if style and style.format is ReportFormat.BRIEF else 1.0
    return scale * kit.bounds.section_words * (1 + parts) / (2 * parts)


def _take_best(finding: Finding, words: float) -> list[Quote]:
    """Take the first quotation, and others up to a number of words that are not far less relevant than the best."""
    relevance = finding.relevance or (1.0,) * len(finding.quotes)
    least = SHOWN * max(relevance, default=0.0)
    taken: list[Quote] = []
    left = words
    for quote, own in zip(finding.quotes, relevance, strict=True):
        if taken and own < least:
            continue
        if left <= 0:
            break
        taken.append(quote)
        left -= count_words(quote.text)
    return taken


def _find_arrangement(query: ResearchQuery) -> Arrangement:
    """Return the reader's arrangement; a question on how something changed is answered in the order of time."""
    return Arrangement.TIME if _ASKS_FOR_CHANGE.search(query.question) else query.writer.arrangement


def _group_by_source(quotes: Iterable[Quote], arrangement: Arrangement) -> list[list[Quote]]:
    """Group quotations by source, the source of the best first; or by date, where the reader wishes it."""
    groups: dict[str, list[Quote]] = {}
    for quote in quotes:
        groups.setdefault(quote.source.url, []).append(quote)
    if arrangement is Arrangement.TIME:
        return sorted(groups.values(), key=lambda own: own[0].source.published or date.max)
    return list(groups.values())


def _list_prose(finding: Finding) -> list[str]:
    """Return the paragraphs of a model's answer that cite one of its quotes; none for a finding made without a model.

    What else looks like a citation or an address is taken out, as in a report.
    """
    book = EvidenceBook((finding.model_copy(update={"passages": ()}),))
    paragraphs = book.put_ids(finding.answer).split("\n\n") if finding.usage.model_calls else []
    plain = [clean_citations(" ".join(paragraph.split()).lstrip("# "), book.ids).text for paragraph in paragraphs]
    return [put_markers(paragraph, book).body for paragraph in plain if has_citation(paragraph)]


def _apply_format(
    sections: Sequence[Section], quotes: Mapping[str, Quote], style: ReportStyle | None, language: Language
) -> list[Section]:
    """Give the sections the form that the reader chose."""
    if style and style.format is ReportFormat.TABLE_FIRST and sections:
        return [_make_table(sections, quotes, language), *sections]
    if style and style.format is ReportFormat.BULLETS:
        return [section.model_copy(update={"body": _as_bullets(section.body)}) for section in sections]
    return list(sections)


def _make_table(sections: Sequence[Section], quotes: Mapping[str, Quote], language: Language) -> Section:
    """Return a table with a row for each quotation."""
    cited = dict.fromkeys(key for section in sections for key in MARKER.findall(section.body))
    rows = [quotes[key] for key in cited if key in quotes][:MOST_ROWS]
    head = f"| {' | '.join(tell(f'column_{what}', language) for what in ('source', 'date', 'statement'))} |\n|---|---|---|"
    lines = [
        f"| {escape_markdown(row.source.title)} | {format_date(row.source, language) or '–'} | {quote_text(row)} |"
        for row in rows
    ]
    return Section(heading=tell("overview", language), body="\n".join([head, *lines]))


def _as_bullets(body: str) -> str:
    blocks = [block for block in body.split("\n\n") if block]
    return "\n\n".join(block if block.startswith(("- ", "|")) else f"- {block}" for block in blocks)


def _say_nothing(findings: Sequence[Finding], language: Language) -> Section:
    reasons = dict.fromkeys(gap for finding in findings for gap in finding.gaps)
    searched = all(finding.stop is StopReason.NO_EVIDENCE for finding in findings)
    body = "\n\n".join(
        [tell("nothing" if searched else "nothing_yet", language), *(f"- {escape_markdown(reason)}" for reason in reasons)]
    )
    return Section(heading=tell("nothing_heading", language), body=body)


def list_readings(plan: ResearchPlan, language: Language) -> list[str]:
    """List the words of the question that were read otherwise than they were written."""
    return [tell("read_as", language, written=reading.written, read=reading.read) for reading in plan.readings]


def _list_notices(query: ResearchQuery, plan: ResearchPlan, parts: Sequence[tuple[str, Finding]]) -> Iterable[str]:
    language = query.language
    yield from list_readings(plan, language)
    for title, finding in parts:
        yield from finding.gaps if finding.quotes else ()
        if finding.stop in PART_NOTICES:
            yield say(PART_NOTICES[finding.stop], language, title=title, detail=finding.detail or "-")
    if query.style and (query.style.tone or query.style.audience):
        yield tell("style_unmet", language)
    if _find_arrangement(query) is Arrangement.TIME:
        yield tell("by_time", language)
    yield make_notice((), language)
