"""The selection from a ranked list: only the best of near-duplicates, and no document in every place."""

from collections import Counter
from collections.abc import Iterable

from app.domain.evidence import Passage
from retrieval.language.tokens import split_units

SAME = 0.7
"""Share of the shorter text's shingles that the other must have to count as the same."""
_SHINGLE = 3


def select_diverse(ranked: Iterable[Passage], limit: int) -> list[Passage]:
    """Select up to `limit` of `ranked`, by score. A document has at most a third of the places if others can fill them."""
    share = max(2, -(-limit // 3))
    chosen: list[Passage] = []
    wordings: list[frozenset[tuple[str, ...]]] = []
    spare: list[Passage] = []
    taken: Counter[str] = Counter()
    for passage in ranked:
        if len(chosen) >= limit:
            break
        if taken[passage.source.url] >= share:
            spare.append(passage)
            continue
        own = _shingles(passage.text)
        if any(_are_alike(own, other) for other in wordings):
            continue
        chosen.append(passage)
        wordings.append(own)
        taken[passage.source.url] += 1
    for passage in spare[: limit - len(chosen)]:
        chosen.append(passage)
    return sorted(chosen, key=lambda passage: -passage.score)


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    """All runs of three words; a shorter text is one run."""
    words = split_units(text.lower())
    runs = frozenset(zip(*(words[start:] for start in range(_SHINGLE)), strict=False))
    return runs or frozenset({tuple(words)})


def _are_alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    """Whether one of the two says little that the other does not."""
    shorter, longer = sorted((one, other), key=len)
    return len(longer) <= 3 * len(shorter) and len(shorter & longer) >= SAME * len(shorter)
