"""Rewriting one section of a finished report: the report agent writes it again from the evidence the run has stored."""

from functools import partial
from typing import NamedTuple

from app.domain.chat import Message
from app.domain.evidence import Finding, Quote
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Section
from workflows.agents.answer_reading import check_length
from workflows.agents.asker import Asker
from workflows.agents.citation_cleaning import clean_citations, has_citation
from workflows.agents.cited_statements import put_markers
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.failures import refuse_answer
from workflows.agents.kit import Kit
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.outline import OutlinedSection
from workflows.agents.reporting.placing import FilledSection
from workflows.agents.reporting.sections import cut_pieces
from workflows.agents.revision import NothingToAdd, SectionRevision
from workflows.agents.shared_terms import count_shared_terms, terms_of
from workflows.agents.steps import TextStep
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

REVISER = "rewrite"
REWRITE = TextStep("rewrite", max_tokens=6_000)
SPARE, SPARE_TO_DEEPEN = 8, 24
"""The number of further passages the writer sees besides those the section cites."""
DEEPER = 1.6
"""The factor by which a deepened section may be longer than a usual section of this report."""


class RewrittenSection(NamedTuple):
    """A section and its parts, and the quotes that their bodies cite beside those of the findings."""

    sections: tuple[Section, ...]
    quotes: tuple[Quote, ...] = ()

    def by(self, writer: str) -> "RewrittenSection":
        """Return the same, changed by this writer."""
        return self._replace(sections=tuple(section.model_copy(update={"changed_by": writer}) for section in self.sections))


async def rewrite_section(
    revision: SectionRevision, query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit
) -> RewrittenSection:
    """Return the rewritten section and its parts. Their bodies cite words of the findings' passages only.

    Raises:
        NothingToAdd: the findings have nothing for it.
        BudgetSpent, ModelError: from the record; then nothing is written.
    """
    desk = ReportDesk(kit, query, plan, findings, EvidenceBook(findings, revision.report.quotes), Asker(kit, REVISER))
    ids = _choose_evidence(desk, revision)
    if not ids:
        raise NothingToAdd(say("nothing_more", kit.language))
    filled = FilledSection(OutlinedSection(1, revision.heading, ""), ids)
    text = await desk.asker.write(REWRITE, _render_messages(desk, revision, ids), partial(_check_section, desk, ids))
    level = revision.sections[0].level
    pieces = [(piece, put_markers(piece.text, desk.book)) for piece in cut_pieces(desk, filled, text)]
    return RewrittenSection(
        tuple(Section(heading=p.heading, level=min(4, p.level + level - 2), body=cited.body) for p, cited in pieces),
        tuple({quote.key: quote for _, cited in pieces for quote in cited.quotes}.values()),
    )


def _check_section(desk: ReportDesk, ids: tuple[str, ...], text: str) -> None:
    check_length(text, round(DEEPER * desk.kit.bounds.section_words), desk.kit.language)
    if not has_citation(clean_citations(text, ids).text):
        raise refuse_answer("cites_nothing", desk.kit.language, id=ids[0])


def _choose_evidence(desk: ReportDesk, revision: SectionRevision) -> tuple[str, ...]:
    """Choose the passages that the section cites now, then those that fit it best; those of other sections come last."""
    book = desk.book
    inside, outside = book.ids_of_keys(revision.inside), book.ids_of_keys(revision.outside)
    wanted = terms_of(" ".join([revision.heading, revision.wish, *(book[short].text for short in inside)]))
    others = [short for short in book.ids if short not in inside]
    others.sort(key=lambda short: (short in outside, -count_shared_terms(book[short].text, wanted)))
    return (*inside, *others[: SPARE_TO_DEEPEN if revision.deepen else SPARE])


def _render_messages(desk: ReportDesk, revision: SectionRevision, ids: tuple[str, ...]) -> tuple[Message, ...]:
    kit = desk.kit
    words = round(kit.bounds.section_words * (DEEPER if revision.deepen else 1.0))
    shown = [f"{'#' * section.level} {section.heading}\n\n{desk.book.put_ids(section.body)}" for section in revision.sections]
    return desk.render(
        "rewrite",
        task=say("deepen" if revision.deepen else "rewrite", kit.language),
        wish=as_data(revision.wish) or say("none", kit.language),
        words=str(words),
        title=revision.report.title,
        outline="\n".join(f"- {section.heading}" for section in revision.report.sections if section.level == 2),
        heading=revision.heading,
        text=as_data("\n\n".join(shown)),
        evidence=desk.book.format_passages(ids, kit.bounds.evidence_chars // 2),
        form=kit.codec.describe_form(REWRITE, kit.prompts, kit.language),
    )
