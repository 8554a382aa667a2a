"""The finished report: ids become markers of exact quotes, and notices tell the reader of any shortcoming."""

from collections.abc import Iterator, Sequence

from app.domain.budget import StopReason
from app.domain.evidence import Finding, Quote, SourceConflict
from app.domain.query import Language
from app.domain.report import Report, Section
from workflows.agents.brief import list_readings
from workflows.agents.citation_cleaning import remove_citations
from workflows.agents.cited_statements import CitedText, put_markers
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.pieces import ReportPiece
from workflows.agents.reporting.sections import word_quoted
from workflows.agents.shared_terms import count_shared_terms, terms_of
from workflows.agents.wording import PART_NOTICES, say
from workflows.checks.heading_faults import close_level_gaps

TOP_LEVEL = 2
"""The level of a report's sections; the title has 1."""


def assemble_report(desk: ReportDesk, title: str, pieces: Sequence[ReportPiece]) -> Report:
    """Put the report together as it is stored and rendered."""
    cited = [put_markers(piece.text, desk.book) for piece in pieces]
    quotes = {quote.key: quote for text in cited for quote in text.quotes}
    return Report(
        title=remove_citations(title) or desk.default_title,
        sections=make_sections(pieces, [text.body for text in cited]),
        quotes=tuple(quotes.values()),
        conflicts=tuple(_list_disputed(desk, pieces, cited)),
        notices=list_notices(desk, pieces),
        removed_citations=desk.removed_citations,
    )


def make_sections(pieces: Sequence[ReportPiece], bodies: Sequence[str]) -> tuple[Section, ...]:
    """Turn the pieces into sections with these bodies; no level is skipped between a heading and the one below it."""
    levels = close_level_gaps([piece.level for piece in pieces], TOP_LEVEL)
    return tuple(
        Section(heading=piece.heading, level=level, body=body) for piece, body, level in zip(pieces, bodies, levels, strict=True)
    )


def _list_disputed(desk: ReportDesk, pieces: Sequence[ReportPiece], cited: Sequence[CitedText]) -> Iterator[SourceConflict]:
    """List what is disputed where one section cites two of its sides, each with the quotes that it has there."""
    for about, ids in desk.disputed:
        for piece, text in zip(pieces, cited, strict=True):
            if len(sides := [short for short in ids if f"[{short}]" in piece.text]) > 1:
                best = [_choose_side([quote for quote in text.quotes if desk.book[short].holds(quote)], about) for short in sides]
                yield SourceConflict(about=remove_citations(about), quote_keys=tuple(dict.fromkeys(best)))
                break


def _choose_side(quotes: Sequence[Quote], about: str) -> str:
    """Return the key of the quote that says most about a disagreement."""
    wanted = terms_of(about)
    return max(quotes, key=lambda quote: count_shared_terms(quote.text, wanted)).key


def list_notices(desk: ReportDesk, pieces: Sequence[ReportPiece]) -> tuple[str, ...]:
    """List what the reader must know, first of all which text is quotes and not the model's.

    Then follow steps that went without the model, and parts that failed or ended early.
    """
    language = desk.kit.language
    told = [*_list_quoted(pieces, language), *list_parts_without_model(desk), *desk.list_failures()]
    told += list_ends(desk, told)
    told += [say("closing_left_out", language, title=heading) for heading in desk.left_out]
    if desk.removed_citations:
        told.append(say("removed", language, n=desk.removed_citations))
    return tuple(told)


def _list_quoted(pieces: Sequence[ReportPiece], language: Language) -> list[str]:
    """List the sections that are quotes, in one sentence for each reason."""
    reasons = dict.fromkeys(piece.quoted for piece in pieces if piece.quoted)
    headings = {why: [p.heading for p in pieces if p.quoted == why and p.level == TOP_LEVEL] for why in reasons}
    return [word_quoted(named, why, language) for why, named in headings.items()]


def list_parts_without_model(desk: ReportDesk) -> list[str]:
    """List the words, the parts of the question, and the plan that went without the model."""
    told = list_readings(desk.plan, desk.kit.language)
    told += [notice for finding in desk.findings for notice in finding.notices]
    return told + ([say("plan_failed", desk.kit.language, detail=desk.plan.unsplit)] if desk.plan.unsplit else [])


def list_ends(desk: ReportDesk, told: Sequence[str]) -> list[str]:
    """List how parts and report ended early, but for what is `told`."""
    ends = [notice for finding in desk.findings if (notice := _notice_of(desk, finding, told))]
    return ends + ([say("budget_report", desk.kit.language)] if desk.budget_spent else [])


def _notice_of(desk: ReportDesk, finding: Finding, told: Sequence[str]) -> str:
    """Return what the reader must know of a part's end; empty if nothing, or if `told` has the reason already."""
    if finding.stop is StopReason.FAILED and finding.detail and any(finding.detail in notice for notice in told):
        return ""
    title = next((s.title for s in desk.plan.subtasks if s.id == finding.subtask_id), finding.subtask_id)
    if finding.stop in PART_NOTICES:
        return say(PART_NOTICES[finding.stop], desk.kit.language, title=title, detail=finding.detail or "-")
    empty = finding.stop is StopReason.NO_EVIDENCE or not (finding.quotes or finding.passages)
    if empty and finding.detail:
        return say("failed_part", desk.kit.language, title=title, detail=finding.detail)
    return say("empty_part", desk.kit.language, title=title) if empty else ""


def report_no_evidence(desk: ReportDesk) -> Report:
    """Return the report on a question for which nothing was found. No model is asked."""
    language = desk.kit.language
    gaps = [f"- {remove_citations(gap)}" for finding in desk.findings for gap in finding.gaps]
    body = "\n".join([say("no_evidence", language), "", *gaps]).strip()
    section = Section(heading=say("summary", language), body=body)
    return Report(title=desk.default_title, sections=(section,), notices=list_notices(desk, ()))
