"""The claims of an answer in DeepRubric's notation (A.4.1): `<cite id="a,b">text</cite>` is a cited claim.

Any other sentence is an uncited claim. A repeated claim is one claim, so that repetition cannot raise a mean.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from retrieval.language.sentences import list_sentences

_OPEN = re.compile(r'<cite\s+id\s*=\s*"([^"<>]*)"\s*>')
_CLOSE = "</cite>"
_ANY_CITE = re.compile(r"</?cite\b[^>]{0,500}>")  # bounded: each of many open tags would read to the end
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A claim, the ids it cites (none: uncited), and the place in the answer's plain text where it begins, from 0 to 1."""

    text: str
    ids: tuple[str, ...]
    position: float

    @property
    def cited(self) -> bool:
        """Whether the claim cites any id, real or invented."""
        return bool(self.ids)


def cited_claims_of(answer: str) -> list[CitedClaim]:
    """Return the distinct claims of an answer, in order."""
    pieces = list(_split_pieces(answer))
    length = sum(len(text) for text, _ in pieces) or 1
    found: dict[tuple[str, tuple[str, ...]], CitedClaim] = {}
    at = 0
    for text, ids in pieces:
        for claim in [text] if ids else list_sentences(text):
            said = " ".join(claim.split())
            if _WORDS.search(said):
                found.setdefault((_fold_words(said), ids), CitedClaim(said, ids, at / length))
        at += len(text)
    return list(found.values())


def count_malformed_cites(answer: str) -> int:
    """Count the cite tags that belong to no proper span: not closed, not opened, or without an id."""
    proper = sum(bool(cite.ids) for cite in _find_cites(answer))
    return len(_ANY_CITE.findall(answer)) - 2 * proper


def ids_of(attribute: str) -> tuple[str, ...]:
    """Return the distinct ids of a cite tag, in order."""
    return tuple(dict.fromkeys(found for found in (part.strip() for part in re.split(r"[,;\s]+", attribute)) if found))


class _CiteSpan(NamedTuple):
    """A proper span `[start, end)` of an answer, and the places where its text begins and ends."""

    ids: tuple[str, ...]
    start: int
    text_start: int
    text_end: int
    end: int


def _find_cites(answer: str) -> Iterator[_CiteSpan]:
    """Yield the spans in order. The search ends at the last closing tag, so that many open tags cost no extra time."""
    at = 0
    while (opened := _OPEN.search(answer, at)) and (closed := answer.find(_CLOSE, opened.end())) >= 0:
        at = closed + len(_CLOSE)
        yield _CiteSpan(ids_of(opened.group(1)), opened.start(), opened.end(), closed, at)


def _split_pieces(answer: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the plain text in pieces, in order, each with the ids of its span; without ids outside of spans."""
    at = 0
    for cite in _find_cites(answer):
        yield _strip_tags(answer[at : cite.start]), ()
        yield _strip_tags(answer[cite.text_start : cite.text_end]), cite.ids
        at = cite.end
    yield _strip_tags(answer[at:]), ()


def _strip_tags(text: str) -> str:
    return _ANY_CITE.sub("", text)


def _fold_words(text: str) -> str:
    """Return the words alone, in small letters."""
    return " ".join(_WORDS.findall(text.casefold()))
