"""Number citations. A report body refers to quotes by key, as `[[0123456789abcdef]]`; [1], [2] appear only here.

A marker without a stored quote is an error of the writer: it is removed before the reader sees it, and counted. Where an agent
has removed and counted it already, `REMOVED` stands, so that whoever judges the sentence knows.
"""

import re
from collections.abc import Iterable

from app.domain.evidence import Quote
from app.domain.value import Value

MARKER = re.compile(r"\[\[([^\[\]\n]{1,80})\]\]")
MARKER_RUN = re.compile(rf"{MARKER.pattern}(?:\s*{MARKER.pattern})*")
KEY_MARKER = re.compile(r"\[\[\s*(?:[0-9a-f]{16}|removed)\s*\]\]")
"""A marker that is one wherever it stands. Within code others are code, such as the tests of a shell."""

REMOVED = "[[removed]]"
"""Stands where a citation was removed because it named no stored quote. No reader sees it."""

_EDGE = "\x1f"
_STOP = r"(?=[.,;:!?](?![\w/`])|[。，；：！？]|$)"
_STRAY_BLANKS = re.compile(rf"(?:[ \t]*{_EDGE}{_EDGE})+[ \t]*{_STOP}|(?<={_EDGE})[ \t]+{_STOP}|{_EDGE}", re.MULTILINE)
"""The edges of replaced markers, with the blanks beside them that nothing needs before a stop."""


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
        """Replace each marker by `[n]`, numbering quotes in order of first appearance; drop markers without a quote.

        Of the other text only blanks between a marker and a stop, or a line's end, change.
        """
        numbers: dict[str, int] = {}
        unresolved: list[str] = []

        def replace(match: re.Match[str]) -> str:
            key = match.group(1).strip()
            if key not in self._quotes:
                unresolved.extend([key] if match.group() != REMOVED else [])
                return _EDGE + _EDGE
            return f"{_EDGE}[{numbers.setdefault(key, len(numbers) + 1)}]{_EDGE}"

        numbered = _STRAY_BLANKS.sub("", MARKER.sub(replace, text))
        citations = tuple(Citation(n=n, quote=self._quotes[key]) for key, n in numbers.items())
        return NumberedText(text=numbered, citations=citations, unresolved=tuple(unresolved))
