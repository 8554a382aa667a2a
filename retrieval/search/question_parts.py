"""The parts of a long question.

A question of several hops asks about several things, and the vector of the whole is near none of them. So a passage is compared
with the whole and with the part that is nearest to it, and both count alike.
"""

from collections.abc import Mapping
from typing import TypeVar

Key = TypeVar("Key")
LONG = 20
"""The most words of a question that is compared only as a whole."""
PART = 8
"""The words of a part. Half of them are those of the part before."""
MOST = 12
"""The most parts of a question. Each takes 1 to 2 ms to encode."""


def split_question(question: str) -> list[str]:
    """Cut a long question into overlapping runs of words. A short one has no parts."""
    words = question.split()
    if len(words) <= LONG:
        return []
    step = PART // 2
    return [" ".join(words[start : start + PART]) for start in range(0, len(words) - step, step)][:MOST]


def average_scores(whole: Mapping[Key, float], best: Mapping[Key, float]) -> dict[Key, float]:
    """Average the scores by the whole question with those by the best part, where there is one."""
    return {key: (score + best.get(key, score)) / 2 for key, score in whole.items()}
