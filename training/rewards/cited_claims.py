"""The claims of an answer in DeepRubric's notation (A.4.1): `<cite id="a,b">text</cite>` is a cited claim.

As published, a span is one claim however much it says, and a claim counts as often as it is said. Here each sentence of a span
is a claim of its own, a sentence ends after 40 words, and the claims of one sentence, also of a repeated one, count once
together (ADR 0042). A cite tag without a span is text like any other, so that nothing can be hidden in it.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.domain.script import IDEOGRAPHS
from retrieval.language.paragraphs import Span
from retrieval.language.sentences import split_sentences
from training.rewards.sameness import fold_text, has_words, statement_key_of

MOST_SOURCES = 3
"""So many sources of a claim are looked at. A claim that names more of them spreads its bets."""
LONGEST_SENTENCE = 40
"""A sentence ends after so many words or pairs of ideographs, also without a full stop."""
_OPEN = re.compile(r'<cite\s+id\s*=\s*"([^"<>]*)"\s*>')
_CLOSE = "</cite>"
_UNIT = re.compile(rf"[{IDEOGRAPHS}]{{1,2}}|[^\W_{IDEOGRAPHS}]+")


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A claim, the ids it cites (none: uncited), and the place in the answer's plain text where it begins, from 0 to 1.

    `sentence` is the sentence in which it stands; empty where the claim is a whole one.
    """

    text: str
    ids: tuple[str, ...]
    position: float
    sentence: str = ""

    @property
    def cited(self) -> bool:
        """Whether the claim cites any id, real or invented."""
        return bool(self.ids)

    @property
    def vote(self) -> frozenset[str]:
        """The words of its sentence: claims with the same ones count once together."""
        return statement_key_of(self.sentence or self.text)


def cited_claims_of(answer: str, published: bool = False) -> list[CitedClaim]:
    """Return the claims of an answer, in order. What is said again in the same words with the same ids is one claim."""
    plain, spans = _read_spans(answer)
    if published:
        return list(_list_spans(plain, spans))
    first: dict[tuple[str, tuple[str, ...]], CitedClaim] = {}
    for claim in _list_sentence_parts(plain, spans):
        first.setdefault((fold_text(claim.text), claim.ids), claim)
    return list(first.values())


def ids_of(attribute: str) -> tuple[str, ...]:
    """Return the distinct ids of a cite tag, in order."""
    return tuple(dict.fromkeys(found for found in (part.strip() for part in re.split(r"[,;\s]+", attribute)) if found))


class _CiteSpan(NamedTuple):
    """A stretch `[start, end)` of the plain text, and the ids it cites."""

    start: int
    end: int
    ids: tuple[str, ...]


def _read_spans(answer: str) -> tuple[str, list[_CiteSpan]]:
    """Return the text without the tags of proper spans, cut into spans with and without ids.

    The search ends at the last closing tag, so that many open tags cost no extra time.
    """
    texts: list[str] = []
    spans: list[_CiteSpan] = []
    at = length = 0

    def add(text: str, ids: tuple[str, ...]) -> None:
        nonlocal length
        texts.append(text)
        spans.append(_CiteSpan(length, length + len(text), ids))
        length += len(text)

    while (opened := _OPEN.search(answer, at)) and (closed := answer.find(_CLOSE, opened.end())) >= 0:
        add(answer[at : opened.start()], ())
        add(answer[opened.end() : closed], ids_of(opened.group(1)))
        at = closed + len(_CLOSE)
    add(answer[at:], ())
    return "".join(texts), spans


def _list_spans(plain: str, spans: Sequence[_CiteSpan]) -> Iterator[CitedClaim]:
    """Yield the published claims: each span with ids as a whole, and the sentences between them."""
    for start, end, ids in spans:
        text = plain[start:end]
        parts = [(0, len(text))] if ids else split_sentences(text)
        yield from (
            CitedClaim(" ".join(text[a:b].split()), ids, (start + a) / len(plain)) for a, b in parts if has_words(text[a:b])
        )


def _list_sentence_parts(plain: str, spans: Sequence[_CiteSpan]) -> Iterator[CitedClaim]:
    """Yield the part of each sentence that each span has."""
    at = 0
    for sentence in _cut_sentences(plain):
        whole = plain[sentence.start : sentence.end]
        while at < len(spans) and spans[at].start < sentence.end:
            start = max(spans[at].start, sentence.start)
            text = plain[start : min(spans[at].end, sentence.end)]
            if has_words(text):
                yield CitedClaim(" ".join(text.split()), spans[at].ids, start / len(plain), whole)
            if spans[at].end > sentence.end:
                break
            at += 1


def _cut_sentences(plain: str) -> Iterator[Span]:
    """Yield the sentences; a longer one in pieces of 40 words."""
    for start, end in split_sentences(plain):
        later = [unit.start() for unit in _UNIT.finditer(plain, start, end)][LONGEST_SENTENCE::LONGEST_SENTENCE]
        for cut in (*later, end):
            yield Span(start, cut)
            start = cut
