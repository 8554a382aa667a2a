"""Number citations. A report body refers to quotes by key, as `[[0123456789abcdef]]`; [1], [2] appear only here.

A marker without a stored quote is an error of the writer: it is removed before the reader sees it, and counted. Where an agent
has removed and counted it already, `REMOVED` stands, so that whoever judges the sentence knows.
"""

import re
from collections.abc import Iterable

from app.domain.evidence import Quote
from app.domain.value import Value

MARKER = re.compile(r"\[\[([^\[\]\n]{1,80})\]\]")

REMOVED = "[[removed]]"
"""Stands where a citation was removed because it named no stored quote. No reader sees it."""


class Citation(Value):
    """A numbered reference to one stored quote."""

    n: int
    quote: Quote


class NumberedText(Value):
    """Text with numbers for markers, the citations it uses, and the markers without a quote."""

    text: str
    citations: tuple[Citation, ...]
    unresolved: tuple[str, ...] = ()


def marker_of(quote: Quote) -> str:
    """Return the marker that a writer puts after a sentence that rests on this quote."""
    return f"[[{quote.key}]]"


class CitationStore:
    """All quotes that a report may cite, by key. Merging is set union: order and repetition do not matter."""

    def __init__(self, quotes: Iterable[Quote] = ()) -> None:
        self._quotes = {quote.key: quote for quote in quotes}

    def __contains__(self, key: object) -> bool:
        return key in self._quotes

    def __len__(self) -> int:
        return len(self._quotes)

    def get(self, key: str) -> Quote | None:
        """Return the quote of this key, or None."""
        return self._quotes.get(key)

    def number(self, text: str) -> NumberedText:
        """Replace each marker by `[n]`, numbering quotes in order of first appearance; drop markers without a quote."""
        numbers: dict[str, int] = {}
        unresolved: list[str] = []

        def replace(match: re.Match[str]) -> str:
            key = match.group(1).strip()
            if key not in self._quotes:
                unresolved.extend([key] if match.group() != REMOVED else [])
                return ""
            return f"[{numbers.setdefault(key, len(numbers) + 1)}]"

        numbered = re.sub(r"[ \t]+(?=[.,;:!?](?![\w/`])|[。，；：！？]|$)", "", MARKER.sub(replace, text), flags=re.MULTILINE)
        citations = tuple(Citation(n=n, quote=self._quotes[key]) for key, n in numbers.items())
        return NumberedText(text=numbered, citations=citations, unresolved=tuple(unresolved))
