"""A report as pieces: headings with the text below them, citing by `[q3]`; cut from one text, and joined to one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from workflows.agents.citation_cleaning import clean_citations, remove_citations
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.headings import split_at_headings
from workflows.agents.wording import say
from workflows.checks.source_lists import names_a_source_list

TITLE_LEVEL = 1


@dataclass(frozen=True, slots=True)
class ReportPiece:
    """A heading of the report with its text; ids are cited as `[q3]`. `section` is the outline's number, 0 for added ones.

    `quoted` says why the text is quotes and no sentence of it the model's; empty if the model wrote it.
    """

    section: int
    level: int
    heading: str
    text: str
    allowed: tuple[str, ...] = ()
    quoted: str = ""


def join_pieces(pieces: Sequence[ReportPiece]) -> str:
    """Return the pieces as one text under their headings."""
    return "\n\n".join(f"{'#' * piece.level} {piece.heading}\n\n{piece.text}".strip() for piece in pieces)


def cut_whole_report(desk: ReportDesk, text: str, allowed: Collection[str]) -> tuple[str, list[ReportPiece]]:
    """Return the title that the text gives itself, and its pieces without its own list of references.

    Citations of ids that are not `allowed` are removed, and the desk counts them.
    """
    title, pieces = "", list[ReportPiece]()
    for number, part in enumerate(split_at_headings(text), 1):
        heading = part.heading
        if part.level == TITLE_LEVEL and not title:
            title, heading = heading, ""
        if names_a_source_list(part.heading):
            continue
        clean = clean_citations(part.text, allowed)
        desk.removed_citations += clean.removed
        heading = remove_citations(heading)
        if clean.text or heading:
            heading = heading or say("summary", desk.kit.language)
            pieces.append(ReportPiece(number, min(4, max(2, part.level)), heading, clean.text))
    return title, _drop_empty(pieces)


def _drop_empty(pieces: list[ReportPiece]) -> list[ReportPiece]:
    """Return the pieces without those that have neither text nor a part below them."""
    kept: list[ReportPiece] = []
    for piece in reversed(pieces):
        if piece.text or (kept and kept[-1].level > piece.level):
            kept.append(piece)
    return kept[::-1]
