"""Choose what to show of a ranked list: near-duplicates collapse into the best of them, and no document takes every place."""

import re
from collections import Counter
from collections.abc import Iterable

from app.domain.evidence import Passage

SAME = 0.7
"""Share of the shorter text's shingles that the other must have to count as the same."""
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
_SHINGLE = 3


def diverse(ranked: Iterable[Passage], limit: int) -> list[Passage]:
    """Up to `limit` of `ranked`, in order of score. A document has at most a third of the places while others have something."""
    share = max(2, -(-limit // 3))
    chosen: list[Passage] = []
    shingles: list[frozenset[tuple[str, ...]]] = []
    spare: list[Passage] = []
    taken: Counter[str] = Counter()
    for passage in ranked:
        if len(chosen) >= limit:
            break
        if taken[passage.source.url] >= share:
            spare.append(passage)
            continue
        own = _shingles(passage.text)
        if any(_alike(own, other) for other in shingles):
            continue
        chosen.append(passage)
        shingles.append(own)
        taken[passage.source.url] += 1
    for passage in spare[: limit - len(chosen)]:
        chosen.append(passage)
    return sorted(chosen, key=lambda passage: -passage.score)


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    if len(words) <= _SHINGLE:
        return frozenset([tuple(words)])
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    shorter, longer = sorted((one, other), key=len)
    if len(longer) > 3 * len(shorter):
        return False
    return len(shorter & longer) >= SAME * len(shorter)
