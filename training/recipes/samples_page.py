"""Examples as a page: the text of each run of tokens, with those that are trained (or sampled by the policy) coloured."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from training.pages.markup import render_document

SHOWN_CHARS = 300
"""What is shown of the beginning and of the end of a long text that the policy only read."""


@dataclass(frozen=True, slots=True)
class ShownPiece:
    """A run of tokens as text. `trained`: they have a gradient. Text that a person should not miss may be `note`d."""

    text: str
    trained: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class ShownSample:
    """An example or a rollout under its title, with a line about it."""

    title: str
    about: str
    pieces: Sequence[ShownPiece]


def render_samples(title: str, samples: Sequence[ShownSample]) -> str:
    """Render the page."""
    legend = '<p class="tokens"><span class="trained">trained</span> <span class="observed">only read</span></p>'
    return render_document(title, [f"<h1>{escape(title)}</h1>", legend, *map(_render_sample, samples)])


def join_tokens(tokens: Sequence[int], trained: Sequence[bool]) -> list[tuple[list[int], bool]]:
    """Return runs of tokens that are all trained, or all not."""
    marked = groupby(zip(tokens, trained, strict=True), key=lambda each: each[1])
    return [([token for token, _ in run], is_trained) for is_trained, run in marked]


def _render_sample(sample: ShownSample) -> str:
    pieces = "".join(map(_render_piece, sample.pieces))
    return f'<h2>{escape(sample.title)}</h2><p>{escape(sample.about)}</p><div class="tokens">{pieces}</div>'


def _render_piece(piece: ShownPiece) -> str:
    """Render a piece. What is only read and long is folded, so that what the policy wrote is in sight."""
    text = piece.text
    if piece.trained or len(text) <= 2 * SHOWN_CHARS:
        return _colour(text, piece)
    middle = text[SHOWN_CHARS:-SHOWN_CHARS]
    folded = f"<details><summary>{len(middle):,} characters more</summary>{_colour(middle, piece)}</details>"
    return _colour(text[:SHOWN_CHARS], piece) + folded + _colour(text[-SHOWN_CHARS:], piece)


def _colour(text: str, piece: ShownPiece) -> str:
    kind = "trained" if piece.trained else "observed"
    return f'<span class="{kind}" title="{escape(piece.note, quote=True)}">{escape(text)}</span>'
