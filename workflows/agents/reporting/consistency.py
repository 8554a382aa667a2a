"""The last step, one consistency pass: it edits repetitions and contradictions, and writes summary and conclusion."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from workflows.agents.citation_cleaning import clean_citations, has_citation, list_cited_ids
from workflows.agents.quoting import locate_quote
from workflows.agents.reporting.aggregation import FilledSection, format_conflicts
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.headings import flatten_headings
from workflows.agents.reporting.outline import Outline
from workflows.agents.reporting.sections import ReportPiece
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

MAX_EDITS = 30
MIN_FIND = 12
MAX_CUT = 1_500
CLOSING_CHARS = 6_000


class EditAnswer(StepAnswer):
    """One replacement inside one section."""

    section: int = Field(default=0, description="number of the section")
    find: str = Field(default="", description="the passage to change, copied exactly, at least a whole clause")
    replace: str = Field(default="", description="what stands there instead, keeping its citations; empty to delete")


class ConsistencyAnswer(StepAnswer):
    """The changes and additions of the pass."""

    edits: tuple[EditAnswer, ...] = Field(default=(), description="only where sections repeat or contradict each other")
    summary: str = Field(
        default="", max_length=CLOSING_CHARS, description="the summary at the top, in Markdown, citing as the sections do"
    )
    conclusion: str = Field(
        default="",
        max_length=CLOSING_CHARS,
        description="what follows, how sure it is and what stays open, citing as the sections do",
    )


CONSISTENCY = declare_step("consistency", ConsistencyAnswer, max_tokens=4_500, spare=["edits"])


async def make_consistent(
    desk: ReportDesk, outline: Outline, filled: Sequence[FilledSection], pieces: list[ReportPiece]
) -> list[ReportPiece]:
    """Return the pieces after the pass, between summary and conclusion. Without an answer they stay unchanged."""
    kit = desk.kit
    conflicts = [(c.about, c.ids) for section in filled for c in section.conflicts]
    messages = desk.render(
        "consistency",
        title=outline.title,
        report=_number_pieces(pieces, kit.bounds.conversation_chars),
        conflicts=format_conflicts(conflicts) or say("none", kit.language),
        gaps="\n".join(f"- {as_data(gap)}" for f in desk.findings for gap in f.gaps) or say("none", kit.language),
        form=kit.codec.describe_form(CONSISTENCY, kit.prompts, kit.language),
    )
    answer = await desk.ask(desk.asker, CONSISTENCY, messages, "consistency_failed")
    if answer is None:
        return pieces
    for edit in answer.edits[:MAX_EDITS]:
        pieces = apply_edit(desk, pieces, edit)
    return _add_frame(desk, pieces, answer)


def _number_pieces(pieces: Sequence[ReportPiece], chars: int) -> str:
    """Return the report as the pass reads it, with a number for each section."""
    share = max(400, chars // max(1, len(pieces)))
    return "\n\n".join(f"{'#' * p.level} [section {p.section}] {p.heading}\n{as_data(p.text[:share])}" for p in pieces)


def apply_edit(desk: ReportDesk, pieces: list[ReportPiece], edit: EditAnswer) -> list[ReportPiece]:
    """Apply one edit if it is sound: its passage exists, kept text loses no citation, and no whole section is deleted."""
    for i, piece in enumerate(pieces):
        span = (
            locate_quote(piece.text, edit.find) if piece.section == edit.section and len(edit.find.strip()) >= MIN_FIND else None
        )
        if span is None:
            continue
        new = clean_citations(edit.replace, piece.allowed)
        whole = clean_citations(f"{piece.text[: span.start]}{new.text}{piece.text[span.end :]}", piece.allowed)
        text = flatten_headings(whole.text)
        if not is_sound_edit(piece.text, text, span.end - span.start, new.text):
            return pieces
        desk.removed_citations += new.removed + whole.removed
        return [*pieces[:i], replace(piece, text=text, quoted=""), *pieces[i + 1 :]]
    return pieces


def is_sound_edit(before: str, after: str, found_chars: int, new: str) -> bool:
    """Say whether an edit keeps the citations of kept text, deletes no whole section and does not add too much."""
    if not new:
        return found_chars <= MAX_CUT and bool(after)
    return set(list_cited_ids(before)) <= set(list_cited_ids(after)) and len(new) <= 2 * found_chars + MAX_CUT


def _add_frame(desk: ReportDesk, pieces: list[ReportPiece], answer: ConsistencyAnswer) -> list[ReportPiece]:
    """Put summary and conclusion around the pieces. They may cite only what the sections cite."""
    used = tuple(dict.fromkeys(short for piece in pieces for short in list_cited_ids(piece.text)))
    return [
        *_make_closing(desk, "summary", answer.summary, used),
        *pieces,
        *_make_closing(desk, "conclusion", answer.conclusion, used),
    ]


def _make_closing(desk: ReportDesk, what: str, said: str, used: tuple[str, ...]) -> list[ReportPiece]:
    """Make a summary or a conclusion. One that cites nothing says nothing of the sources: it is left out."""
    heading = say(what, desk.kit.language)
    text = clean_citations(said, used)
    desk.removed_citations += text.removed
    body = flatten_headings(text.text, besides=heading)
    if has_citation(body):
        return [ReportPiece(0, 2, heading, body, used)]
    if any(c.isalnum() for c in body):
        desk.left_out.append(heading)
    return []
