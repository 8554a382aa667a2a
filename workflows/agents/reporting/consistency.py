"""The last step, one consistency pass: it edits repetitions and contradictions, and writes summary and conclusion."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from workflows.agents.quoting import locate
from workflows.agents.reporting.aggregation import Filled, noticed
from workflows.agents.reporting.citing import cited_ids, cleaned
from workflows.agents.reporting.desk import Desk
from workflows.agents.reporting.headings import without_headings
from workflows.agents.reporting.outline import Outline
from workflows.agents.reporting.sections import Piece
from workflows.agents.steps import Answer, step
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

MAX_EDITS = 30
MIN_FIND = 12
MAX_CUT = 1_500
CLOSING_CHARS = 6_000


class EditAnswer(Answer):
    """One replacement inside one section."""

    section: int = Field(default=0, description="number of the section")
    find: str = Field(default="", description="the passage to change, copied exactly, at least a whole clause")
    replace: str = Field(default="", description="what stands there instead, keeping its citations; empty to delete")


class ConsistencyAnswer(Answer):
    """The changes and additions of the pass."""

    edits: tuple[EditAnswer, ...] = Field(default=(), description="only where sections repeat or contradict each other")
    summary: str = Field(default="", description="the summary at the top, in Markdown, citing as the sections do")
    conclusion: str = Field(default="", description="what follows, how sure it is and what stays open, citing as the sections do")


CONSISTENCY = step("consistency", ConsistencyAnswer, max_tokens=4_500)


async def make_consistent(desk: Desk, outline: Outline, filled: Sequence[Filled], pieces: list[Piece]) -> list[Piece]:
    """Return the pieces after the pass, between summary and conclusion. Without an answer they stay unchanged."""
    kit = desk.kit
    conflicts = [(c.about, c.ids) for section in filled for c in section.conflicts]
    messages = desk.render(
        "consistency",
        title=outline.title,
        report=_numbered(pieces, kit.bounds.conversation_chars),
        conflicts=noticed(conflicts) or say("none", kit.language),
        gaps="\n".join(f"- {as_data(gap)}" for f in desk.findings for gap in f.gaps) or say("none", kit.language),
        form=kit.codec.form(CONSISTENCY, kit.prompts, kit.language),
    )
    answer = await desk.ask(desk.asker, CONSISTENCY, messages, "consistency")
    if answer is None:
        return pieces
    for edit in answer.edits[:MAX_EDITS]:
        pieces = apply(desk, pieces, edit)
    return _framed(desk, pieces, answer)


def _numbered(pieces: Sequence[Piece], chars: int) -> str:
    """Return the report as the pass reads it, with a number for each section."""
    share = max(400, chars // max(1, len(pieces)))
    return "\n\n".join(f"{'#' * p.level} [section {p.section}] {p.heading}\n{as_data(p.text[:share])}" for p in pieces)


def apply(desk: Desk, pieces: list[Piece], edit: EditAnswer) -> list[Piece]:
    """Apply one edit if it is sound: its passage exists, kept text loses no citation, and no whole section is deleted."""
    for i, piece in enumerate(pieces):
        span = locate(piece.text, edit.find) if piece.section == edit.section and len(edit.find.strip()) >= MIN_FIND else None
        if span is None:
            continue
        new = cleaned(edit.replace, piece.allowed)
        whole = cleaned(f"{piece.text[: span.start]}{new.text}{piece.text[span.end :]}", piece.allowed)
        text = without_headings(whole.text)
        if not sound(piece.text, text, span.end - span.start, new.text):
            return pieces
        desk.removed_citations += new.removed + whole.removed
        return [*pieces[:i], replace(piece, text=text), *pieces[i + 1 :]]
    return pieces


def sound(before: str, after: str, found_chars: int, new: str) -> bool:
    """Say whether an edit keeps the citations of kept text, deletes no whole section and does not add too much."""
    if not new:
        return found_chars <= MAX_CUT and bool(after)
    return set(cited_ids(before)) <= set(cited_ids(after)) and len(new) <= 2 * found_chars + MAX_CUT


def _framed(desk: Desk, pieces: list[Piece], answer: ConsistencyAnswer) -> list[Piece]:
    """Put summary and conclusion around the pieces. They may cite only what the sections cite."""
    used = tuple(dict.fromkeys(short for piece in pieces for short in cited_ids(piece.text)))
    return [*_closing(desk, "summary", answer.summary, used), *pieces, *_closing(desk, "conclusion", answer.conclusion, used)]


def _closing(desk: Desk, what: str, said: str, used: tuple[str, ...]) -> list[Piece]:
    heading = say(what, desk.kit.language)
    text = cleaned(said[:CLOSING_CHARS], used)
    desk.removed_citations += text.removed
    body = without_headings(text.text, besides=heading)
    return [Piece(0, 2, heading, body, used)] if any(c.isalnum() for c in body) else []
