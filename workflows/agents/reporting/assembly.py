"""The finished report: missing disagreements are added, ids become markers, and notices tell the reader of any shortcoming."""

from collections.abc import Sequence
from dataclasses import replace

from app.domain.budget import StopReason
from app.domain.evidence import Finding, SourceConflict
from app.domain.query import Language
from app.domain.report import Report, Section
from workflows.agents.brief import list_readings
from workflows.agents.citation_cleaning import has_citation, list_cited_ids, put_markers, remove_citations
from workflows.agents.quote_book import QuoteBook
from workflows.agents.reporting.aggregation import FilledSection, SourceDisagreement
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.outline import Outline
from workflows.agents.reporting.sections import ReportPiece, word_quoted
from workflows.agents.wording import PART_NOTICES, say
from workflows.checks.heading_faults import close_level_gaps

QUOTED_CHARS = 280
TOP_LEVEL = 2
"""The level of a report's sections; the title has 1."""


def assemble_report(desk: ReportDesk, outline: Outline, filled: Sequence[FilledSection], pieces: list[ReportPiece]) -> Report:
    """Put the report together as it is stored and rendered."""
    book = desk.book
    conflicts = [conflict for section in filled for conflict in section.conflicts]
    for section in filled:
        for conflict in section.conflicts:
            pieces = _state_conflict(desk, pieces, section.section.number, conflict)
    cited = dict.fromkeys(short for piece in pieces for short in list_cited_ids(piece.text))
    return Report(
        title=remove_citations(outline.title) or desk.default_title,
        sections=make_sections(pieces, book),
        quotes=tuple(book[short] for short in cited),
        conflicts=tuple(SourceConflict(about=c.about, quote_keys=tuple(book[short].key for short in c.ids)) for c in conflicts),
        notices=list_notices(desk, pieces),
        removed_citations=desk.removed_citations,
    )


def make_sections(pieces: Sequence[ReportPiece], book: QuoteBook) -> tuple[Section, ...]:
    """Turn the pieces into sections; no level is skipped between a heading and the one below it."""
    levels = close_level_gaps([piece.level for piece in pieces], TOP_LEVEL)
    return tuple(
        Section(heading=piece.heading, level=level, body=put_markers(piece.text, book))
        for piece, level in zip(pieces, levels, strict=True)
    )


def _state_conflict(desk: ReportDesk, pieces: list[ReportPiece], section: int, conflict: SourceDisagreement) -> list[ReportPiece]:
    """Add a disagreement to its section, unless one piece already cites two of its sides."""
    if any(len(set(conflict.ids) & set(list_cited_ids(piece.text))) > 1 for piece in pieces):
        return pieces
    last = max(i for i, piece in enumerate(pieces) if piece.section == section)
    text = f"{pieces[last].text}\n\n{_word_disagreement(desk, conflict)}".strip()
    return [*pieces[:last], replace(pieces[last], text=text, quoted=""), *pieces[last + 1 :]]


def _word_disagreement(desk: ReportDesk, conflict: SourceDisagreement) -> str:
    language = desk.kit.language
    about = remove_citations(conflict.about).rstrip(".。")
    sides = [say("one_side", language, quote=_shorten(desk.book[s].text), mark=f"[{s}]") for s in conflict.ids]
    return say("disagree", language, about=about, sides=say("between_sides", language).join(sides))


def _shorten(text: str) -> str:
    line = remove_citations(" ".join(text.split()))
    return line if len(line) <= QUOTED_CHARS else f"{line[:QUOTED_CHARS].rstrip()} …"


def list_notices(desk: ReportDesk, pieces: Sequence[ReportPiece]) -> tuple[str, ...]:
    """List what the reader must know, first of all which text is quotes and not the model's.

    Then follow steps that went without the model, parts that failed or ended early, and sections without a source.
    """
    language = desk.kit.language
    told = [*_list_quoted(pieces, language), *list_parts_without_model(desk), *desk.list_failures()]
    told += list_ends(desk, told)
    told += [say("uncited", language, title=heading) for heading in _list_uncited(pieces)]
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
    empty = finding.stop is StopReason.NO_EVIDENCE or not finding.quotes
    if empty and finding.detail:
        return say("failed_part", desk.kit.language, title=title, detail=finding.detail)
    return say("empty_part", desk.kit.language, title=title) if empty else ""


def _list_uncited(pieces: Sequence[ReportPiece]) -> list[str]:
    """Return the headings of sections that have text but no citation, also not in their parts."""
    groups: dict[tuple[int, str], list[ReportPiece]] = {}
    for piece in pieces:
        groups.setdefault((piece.section, "" if piece.section else piece.heading), []).append(piece)
    return [
        group[0].heading
        for group in groups.values()
        if any(p.text for p in group) and not any(has_citation(p.text) for p in group)
    ]


def report_no_evidence(desk: ReportDesk) -> Report:
    """Return the report on a question for which nothing was found. No model is asked."""
    language = desk.kit.language
    gaps = [f"- {remove_citations(gap)}" for finding in desk.findings for gap in finding.gaps]
    body = "\n".join([say("no_evidence", language), "", *gaps]).strip()
    section = Section(heading=say("summary", language), body=body)
    return Report(title=desk.default_title, sections=(section,), notices=list_notices(desk, ()))
