"""Choose what to show of a ranked list: near-duplicates collapse into the best of them, and no document takes every place."""

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from app.domain.evidence import Passage
from retrieval.language.tokens import split_units

SAME = 0.7
"""Share of the shorter text's shingles that the other must have to count as the same."""
SAME_WORDS = 0.5
"""Texts that share fewer of the shorter one's words than this cannot share that many shingles."""
_SHINGLE = 3


def diverse(ranked: Iterable[Passage], limit: int) -> list[Passage]:
    """Up to `limit` of `ranked`, in order of score. A document has at most a third of the places while others have something."""
    share = max(2, -(-limit // 3))
    chosen: list[Passage] = []
    wordings: list[_Wording] = []
    spare: list[Passage] = []
    taken: Counter[str] = Counter()
    for passage in ranked:
        if len(chosen) >= limit:
            break
        if taken[passage.source.url] >= share:
            spare.append(passage)
            continue
        own = _Wording(passage.text)
        if any(own.like(other) for other in wordings):
            continue
        chosen.append(passage)
        wordings.append(own)
        taken[passage.source.url] += 1
    for passage in spare[: limit - len(chosen)]:
        chosen.append(passage)
    return sorted(chosen, key=lambda passage: -passage.score)


class _Wording:
    """A passage's words. Its shingles are made only when another has much the same words, which is seldom."""

    def __init__(self, text: str) -> None:
        self._sequence = split_units(text.lower())
        self._words = frozenset(self._sequence)

    @cached_property
    def _shingles(self) -> frozenset[tuple[str, ...]]:
        words = self._sequence
        if len(words) <= _SHINGLE:
            return frozenset([tuple(words)])
        return frozenset(zip(words, words[1:], words[2:], strict=False))

    def like(self, other: "_Wording") -> bool:
        """Whether one of the two says little that the other does not."""
        fewer = min(len(self._words), len(other._words))
        if len(self._words & other._words) < SAME_WORDS * fewer:
            return False
        shorter, longer = sorted((self._shingles, other._shingles), key=len)
        if len(longer) > 3 * len(shorter):
            return False
        return len(shorter & longer) >= SAME * len(shorter)
