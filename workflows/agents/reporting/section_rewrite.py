"""Rewriting one section of a finished report: the report agent writes it again from the evidence the run has stored."""

from functools import partial

from app.domain.chat import Message
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Section
from workflows.agents.answer_reading import check_length
from workflows.agents.asker import Asker
from workflows.agents.citation_cleaning import clean_citations, has_citation, put_markers
from workflows.agents.failures import refuse_answer
from workflows.agents.kit import Kit
from workflows.agents.quote_book import QuoteBook
from workflows.agents.reporting.aggregation import FilledSection
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.outline import OutlinedSection
from workflows.agents.reporting.sections import cut_pieces
from workflows.agents.revision import NothingToAdd, SectionRevision
from workflows.agents.shared_terms import count_shared_terms, terms_of
from workflows.agents.steps import TextStep
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

REVISER = "rewrite"
REWRITE = TextStep("rewrite", max_tokens=6_000)
SPARE, SPARE_TO_DEEPEN = 8, 24
"""The number of further quotes the writer sees besides those the section cites."""
DEEPER = 1.6
"""The factor by which a deepened section may be longer than a usual section of this report."""


async def rewrite_section(
    revision: SectionRevision, query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit
) -> tuple[Section, ...]:
    """Return the rewritten section and its parts. Their bodies cite quotes of the findings only.

    Raises:
        NothingMore: the findings have no quote for it.
        BudgetSpent, ModelError: from the record; then nothing is written.
    """
    desk = ReportDesk(kit, query, plan, findings, QuoteBook(findings), Asker(kit, REVISER))
    ids = _choose_evidence(desk, revision)
    if not ids:
        raise NothingToAdd(say("nothing_more", kit.language))
    filled = FilledSection(OutlinedSection(1, revision.heading, ""), spare=list(ids))
    text = await desk.asker.write(REWRITE, _render_messages(desk, revision, ids), partial(_check_section, desk, ids))
    level = revision.sections[0].level
    return tuple(
        Section(heading=piece.heading, level=min(4, piece.level + level - 2), body=put_markers(piece.text, desk.book))
        for piece in cut_pieces(desk, filled, text)
    )


def _check_section(desk: ReportDesk, ids: tuple[str, ...], text: str) -> None:
    check_length(text, round(DEEPER * desk.kit.bounds.section_words), desk.kit.language)
    if not has_citation(clean_citations(text, ids).text):
        raise refuse_answer("cites_nothing", desk.kit.language, id=ids[0])


def _choose_evidence(desk: ReportDesk, revision: SectionRevision) -> tuple[str, ...]:
    """Choose the quotes that the section cites now, then those that fit it best; quotes of other sections come last."""
    book = desk.book
    by_key = {book[short].key: short for short in book.ids}
    cited = [short for key, short in by_key.items() if key in revision.inside]
    wanted = terms_of(" ".join([revision.heading, revision.wish, *(book[short].text for short in cited)]))
    others = [short for short in book.ids if short not in cited]
    others.sort(key=lambda short: (book[short].key in revision.outside, -count_shared_terms(book[short].text, wanted)))
    return (*cited, *others[: SPARE_TO_DEEPEN if revision.deepen else SPARE])


def _render_messages(desk: ReportDesk, revision: SectionRevision, ids: tuple[str, ...]) -> tuple[Message, ...]:
    kit = desk.kit
    words = round(kit.bounds.section_words * (DEEPER if revision.deepen else 1.0))
    shown = [f"{'#' * section.level} {section.heading}\n\n{desk.book.put_ids(section.body)}" for section in revision.sections]
    return kit.prompts.get("rewrite", kit.language).render(
        **desk.frame_values(),
        task=say("deepen" if revision.deepen else "rewrite", kit.language),
        wish=as_data(revision.wish) or say("none", kit.language),
        words=str(words),
        title=revision.report.title,
        outline="\n".join(f"- {section.heading}" for section in revision.report.sections if section.level == 2),
        heading=revision.heading,
        text=as_data("\n\n".join(shown)),
        evidence=desk.book.format_quotes(ids, kit.bounds.evidence_chars // 2),
        form=kit.codec.describe_form(REWRITE, kit.prompts, kit.language),
    )
