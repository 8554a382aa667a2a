"""The drawings of annotations: the text that stamps and free texts show on their page."""

from collections.abc import Sequence
from contextlib import closing

import pypdfium2
import pypdfium2.raw as pdfium

from retrieval.corpora.pdf.fields import Remark
from retrieval.corpora.pdf.lines import build_lines
from retrieval.corpora.pdf.pieces import Box, Piece, read_pieces, turn_box
from retrieval.corpora.pdf.unnamed import hide_letters


def read_appearances(document: pypdfium2.PdfDocument, number: int) -> list[Piece]:
    """Return the text that the annotations of a page show, with its places. The page in memory loses all else by this."""
    with closing(document[number]) as page:
        for drawn in list(page.get_objects(max_depth=1)):
            page.remove_obj(drawn)
        page.gen_content()
        pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY)
    with closing(document[number]) as page, closing(page.get_textpage()) as text:
        return [piece._replace(text=hide_letters(piece.text)) for piece in read_pieces(text).pieces]


def write_remarks(remarks: Sequence[Remark], shown: Sequence[Piece], pieces: Sequence[Piece], turn: int) -> list[str]:
    """Write each remark with its label: what it shows, and what it says besides. What the page has at its place goes."""
    written: list[str] = []
    for remark in remarks:
        drawn, there = (_read_box(found, remark.box, turn) for found in (shown, pieces))
        said = [text for text in dict.fromkeys((drawn, remark.text)) if text and not _has(there, text)]
        said = said[:1] if drawn and _has(drawn, remark.text) else said
        written += [f"{remark.label}: {text}" for text in said or [remark.name] * (not there) if text]
    return written


def _read_box(pieces: Sequence[Piece], box: Box | None, turn: int) -> str:
    if box is None:
        return ""
    left, bottom, right, top = turn_box(*box, turn)
    inside = [p for p in pieces if left <= (p.left + p.right) / 2 <= right and bottom <= p.base <= top]
    return " ".join(line.text for line in build_lines(inside))


def _has(text: str, words: str) -> bool:
    return "".join(words.split()) in "".join(text.split())
