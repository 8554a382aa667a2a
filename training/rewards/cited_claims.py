"""The claims of an answer in DeepRubric's notation: `<cite id="a,b">text</cite>` is a cited claim, any other sentence uncited.

DeepRubric A.4.1. A claim said twice is one claim: repeating what is well supported must not raise a mean.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.sentences import split_sentences

_CITE = re.compile(r'<cite\s+id\s*=\s*"([^"<>]*)"\s*>(.*?)</cite>', re.DOTALL)
_ANY_CITE = re.compile(r"</?cite\b[^>]*>")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A claim, the ids it cites (none: uncited), and where it begins in the answer's plain text, from 0 to 1."""

    text: str
    ids: tuple[str, ...]
    position: float

    @property
    def cited(self) -> bool:
        """Whether it cites anything, be it real or invented."""
        return bool(self.ids)


def claims_of(answer: str) -> list[CitedClaim]:
    """The distinct claims of an answer, in order."""
    pieces = list(_pieces(answer))
    length = sum(len(text) for text, _ in pieces) or 1
    found: dict[tuple[str, tuple[str, ...]], CitedClaim] = {}
    at = 0
    for text, ids in pieces:
        for claim in [text] if ids else [text[span.start : span.end] for span in split_sentences(text)]:
            said = " ".join(claim.split())
            if _WORDS.search(said):
                found.setdefault((_folded(said), ids), CitedClaim(said, ids, at / length))
        at += len(text)
    return list(found.values())


def malformed_cites(answer: str) -> int:
    """Cite tags that belong to no proper span: never closed, never opened, without an id."""
    proper = sum(bool(ids_of(match.group(1))) for match in _CITE.finditer(answer))
    return len(_ANY_CITE.findall(answer)) - 2 * proper


def ids_of(attribute: str) -> tuple[str, ...]:
    """The distinct ids of a cite tag, in order."""
    return tuple(dict.fromkeys(found for found in (part.strip() for part in re.split(r"[,;\s]+", attribute)) if found))


def _pieces(answer: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Plain text in order, with the ids of the span that it is; none outside."""
    at = 0
    for match in _CITE.finditer(answer):
        ids = ids_of(match.group(1))
        yield _ANY_CITE.sub("", answer[at : match.start()]), ()
        yield _ANY_CITE.sub("", match.group(2)), ids
        at = match.end()
    yield _ANY_CITE.sub("", answer[at:]), ()


def _folded(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))
