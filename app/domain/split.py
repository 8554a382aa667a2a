"""The sides of data for training, and the shares that are held out of it."""

from collections.abc import Mapping
from enum import StrEnum


class Split(StrEnum):
    """A side, in the order of how much is held out of training: a validation chooses the policy, a test only measures it."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


HELD_OUT: Mapping[Split, float] = {Split.TEST: 0.1, Split.VALIDATION: 0.1}
"""The shares of the held-out sides (8:1:1, "Learning Query-Specific Rubrics from Human Preferences", section 4.1)."""
FEWEST = 2
"""A mean over fewer than two has no spread."""


def count_fewest(total: int) -> int:
    """Return how many of `total` rows or queries a held-out side has at least: two, and at most a fifth."""
    return min(FEWEST, total // 5)
