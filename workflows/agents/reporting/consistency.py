"""The critical pass over sections that were written side by side: it edits the whole, and writes summary and conclusion."""

from collections.abc import Sequence

from pydantic import Field

from workflows.agents.citation_cleaning import clean_citations, has_citation, list_cited_ids
from workflows.agents.evidence_book import format_conflicts
from workflows.agents.reporting.critique import DisagreementAnswer, read_disagreements
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.edits import EditAnswer, apply_edits
from workflows.agents.reporting.headings import flatten_headings
from workflows.agents.reporting.pieces import ReportPiece, cut_whole_report, join_pieces
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

CLOSING_CHARS = 6_000


class ConsistencyAnswer(StepAnswer):
    """The changes and additions of the pass."""

    edits: tuple[EditAnswer, ...] = Field(default=(), description="only what has to change")
    summary: str = Field(
        default="", max_length=CLOSING_CHARS, description="the summary at the top, in Markdown, citing as the sections do"
    )
    conclusion: str = Field(
        default="",
        max_length=CLOSING_CHARS,
        description="what follows, how sure it is and what stays open, citing as the sections do",
    )
    conflicts: tuple[DisagreementAnswer, ...] = Field(
        default=(), description="disagreements between sources that nothing in the evidence settles and that the report tells"
    )


CONSISTENCY = declare_step("consistency", ConsistencyAnswer, max_tokens=6_000, spare=["edits", "conflicts"])


async def make_consistent(desk: ReportDesk, title: str, pieces: list[ReportPiece]) -> list[ReportPiece]:
    """Return the pieces after the pass, between summary and conclusion. Without an answer they stay unchanged."""
    kit, text = desk.kit, join_pieces(pieces)
    used = list_cited_ids(text)
    messages = desk.render(
        "consistency",
        title=title,
        report=as_data(text[: kit.bounds.conversation_chars]),
        conflicts=format_conflicts(desk.book.list_conflicts()) or say("none", kit.language),
        gaps="\n".join(f"- {as_data(gap)}" for f in desk.findings for gap in f.gaps) or say("none", kit.language),
        evidence=desk.book.format_passages(used, kit.bounds.evidence_chars),
        form=kit.codec.describe_form(CONSISTENCY, kit.prompts, kit.language),
    )
    answer = await desk.ask(desk.asker, CONSISTENCY, messages, "consistency_failed")
    if answer is None:
        return pieces
    desk.disputed = read_disagreements(answer.conflicts, desk.book)
    return _add_frame(desk, _edit_pieces(desk, pieces, text, answer.edits), answer)


def _edit_pieces(desk: ReportDesk, pieces: list[ReportPiece], text: str, edits: Sequence[EditAnswer]) -> list[ReportPiece]:
    """Return the pieces of the edited text; one that did not change stays what it was. Edits that leave none are no edits."""
    edited = apply_edits(text, edits)
    if edited == text:
        return pieces
    before = {(piece.heading, piece.text): piece for piece in pieces}
    cut = cut_whole_report(desk, edited, desk.book.ids)[1]
    return [before.get((piece.heading, piece.text), piece) for piece in cut] or pieces


def _add_frame(desk: ReportDesk, pieces: list[ReportPiece], answer: ConsistencyAnswer) -> list[ReportPiece]:
    """Put summary and conclusion around the pieces."""
    return [
        *_make_closing(desk, "summary", answer.summary),
        *pieces,
        *_make_closing(desk, "conclusion", answer.conclusion),
    ]


def _make_closing(desk: ReportDesk, what: str, said: str) -> list[ReportPiece]:
    """Make a summary or a conclusion. One that cites nothing says nothing of the sources: it is left out."""
    heading = say(what, desk.kit.language)
    text = clean_citations(said, desk.book.ids)
    desk.removed_citations += text.removed
    body = flatten_headings(text.text, besides=heading)
    if has_citation(body):
        return [ReportPiece(0, 2, heading, body)]
    if any(c.isalnum() for c in body):
        desk.left_out.append(heading)
    return []
