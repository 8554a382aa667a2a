"""Examples as a page: the text of each run of tokens, with those that are trained (or sampled by the policy) coloured."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from training.pages.markup import render_document


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
    pieces = "".join(
        f'<span class="{"trained" if piece.trained else "observed"}" title="{escape(piece.note, quote=True)}">'
        f"{escape(piece.text)}</span>"
        for piece in sample.pieces
    )
    return f'<h2>{escape(sample.title)}</h2><p>{escape(sample.about)}</p><div class="tokens">{pieces}</div>'
