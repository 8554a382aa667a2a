"""A text as vetoes read it: its content words (or ideographs), its quantities and its markers, each with its place."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from app.domain.script import IDEOGRAPHS, is_ideograph
from retrieval.language.quantities import Quantity, QuantityKind, read_quantities
from retrieval.language.stems import find_root
from retrieval.language.stop_words import STOP_WORDS
from retrieval.language.traditional import simplify
from workflows.checks.vetoes.lists import MarkerClass, load_lists

_WORD = re.compile(rf"[^\W\d_{IDEOGRAPHS}](?:[^\W_{IDEOGRAPHS}]|['’.](?=[^\W\d_{IDEOGRAPHS}]))*|[{IDEOGRAPHS}]|\d+")
_POSSESSIVE = re.compile(r"['’]s?$")
_CLAUSE_END = re.compile(r"[,;:，；：、。.!?！？()（）]")
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)[\"'“‘(\[]*$")
HEAD_REACH = {False: 45, True: 12}
HEADS = {False: 2, True: 4}
KEPT = 1_024


class Atom(NamedTuple):
    """A content word, or one ideograph. `name`: it is written like a name; `free`: it is a marker, which other checks read."""

    text: str
    root: str
    start: int
    end: int
    name: bool
    free: bool

    @property
    def chinese(self) -> bool:
        """Whether it is an ideograph."""
        return is_ideograph(self.text[0])


class Marker(NamedTuple):
    """A marker at `[start, end)`; `heads` are the places of the atoms that it says something of."""

    kind: MarkerClass
    text: str
    start: int
    end: int
    heads: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CheckedText:
    """The text in simplified ideographs, with all that vetoes need. `at` gives the atoms' places by root."""

    text: str
    atoms: tuple[Atom, ...]
    at: Mapping[str, tuple[int, ...]]
    quantities: tuple[Quantity, ...]
    markers: tuple[Marker, ...]

    def list_markers(self, *kinds: MarkerClass) -> list[Marker]:
        """Return the markers of these classes."""
        return [marker for marker in self.markers if marker.kind in kinds]


@lru_cache(maxsize=KEPT)
def read_checked(text: str) -> CheckedText:
    """Read a sentence, a title or a claim."""
    plain = simplify(text)
    quantities = read_quantities(plain)
    found = list(_find_markers(plain, quantities))
    carriers = (*load_lists().bounds.values(), load_lists().frames)
    limits = [hit.span() for pattern in carriers for hit in pattern.finditer(plain.lower())]
    atoms = tuple(_find_atoms(plain, quantities, [*limits, *((start, end) for _, start, end in found)]))
    at: dict[str, list[int]] = {}
    for atom in atoms:
        at.setdefault(atom.root, []).append(atom.start)
    starts = [atom.start for atom in atoms]
    markers = tuple(
        Marker(kind, plain[start:end].lower(), start, end, _find_heads(plain, atoms, starts, start, end))
        for kind, start, end in found
    )
    return CheckedText(plain, atoms, {root: tuple(places) for root, places in at.items()}, quantities, markers)


def _find_markers(text: str, quantities: tuple[Quantity, ...]) -> Iterator[tuple[MarkerClass, int, int]]:
    lists, lower = load_lists(), text.lower()
    apart = [found.span() for found in lists.apart.finditer(lower)]
    dates = [(q.start, q.end) for q in quantities if q.kind is QuantityKind.MONTH]
    for kind, pattern in lists.markers.items():
        for found in pattern.finditer(lower):
            start, end = found.span()
            named = text[start].isupper() and not _SENTENCE_START.search(text[:start])
            if not named and not any(left <= start and end <= right for left, right in apart + dates):
                yield kind, start, end


def _find_atoms(text: str, quantities: tuple[Quantity, ...], marked: list[tuple[int, int]]) -> Iterator[Atom]:
    grammar = load_lists().grammar
    for found in _WORD.finditer(text):
        start, end = found.span()
        word = _POSSESSIVE.sub("", found.group())
        lower = word.lower()
        if any(q.start <= start < q.end for q in quantities) or not lower:
            continue
        free = any(left <= start < right for left, right in marked)
        if is_ideograph(word[0]):
            if word not in grammar:
                yield Atom(word, word, start, end, False, free)
        elif lower not in STOP_WORDS:
            name = word[0].isupper() and not _SENTENCE_START.search(text[:start])
            yield Atom(word, find_root(lower), start, end, name or _has_inner_capital(word), free)


def _has_inner_capital(word: str) -> bool:
    return any(char.isupper() or char.isdigit() for char in word[1:])


def _find_heads(text: str, atoms: tuple[Atom, ...], starts: list[int], start: int, end: int) -> tuple[int, ...]:
    """Return the places of the next atoms in the clause, or of the last one before the marker."""
    chinese = is_ideograph(text[start])
    stop = _CLAUSE_END.search(text, end)
    limit = min(end + HEAD_REACH[chinese], stop.start() if stop else len(text))
    after = [atom.start for atom in atoms[bisect_left(starts, end) :] if atom.start < limit][: HEADS[chinese]]
    if after:
        return tuple(after)
    before = [atom.start for atom in atoms[: bisect_left(starts, start)]]
    return tuple(before[-1:])
