"""The place of form values among a page's text: on the line of their label, as a reader sees them."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from retrieval.corpora.pdf.fields import FieldValue
from retrieval.corpora.pdf.pieces import Piece, turn_box

_USUAL_SIZE = 10.0
_LABEL_ABOVE = 1.8
_LABEL_BESIDE = 15.0


def place_fields(fields: Iterable[FieldValue], pieces: Sequence[Piece], turn: int) -> Iterator[Piece]:
    """Yield the values of fields as pieces of the page; one without a label beside it has the field's name."""
    size = median([piece.size for piece in pieces] or [_USUAL_SIZE])
    for field in fields:
        left, bottom, right, top = turn_box(*field.box, turn)
        level = [piece for piece in pieces if bottom - 0.3 * size <= piece.base <= top - 0.3 * size]
        before = [piece for piece in level if piece.left < left]
        after = [piece for piece in level if 0 <= piece.left - right + 1 < _LABEL_BESIDE]
        base = max((piece.base for piece in (*before, *after)), default=max(top - 1.2 * size, bottom))
        if field.mark:
            text = field.text if after else f"{field.text} {field.option or ('' if before else field.name)}".strip()
        else:
            labelled = bool(before) or _has_label_above(pieces, left, right, top, size)
            text = field.text if labelled else f"{field.name}: {field.text}"
        yield Piece(text, left, right, base, size, spaced=True, filled=True)


def _has_label_above(pieces: Sequence[Piece], left: float, right: float, top: float, size: float) -> bool:
    return any(p.left < right and p.right > left and -0.3 * size < p.base - top < _LABEL_ABOVE * size for p in pieces)
