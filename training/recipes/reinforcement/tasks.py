"""The order of tasks over epochs."""

import random
from collections.abc import Iterator, Sequence
from itertools import count
from typing import TypeVar

from training.rollouts.nouns import Task

M = TypeVar("M")


def repeat_tasks(tasks: Sequence[Task[M]], seed: int) -> Iterator[Task[M]]:
    """Yield all tasks for ever, each epoch in another order. The same seed gives the same orders."""
    for epoch in count():
        yield from random.Random(f"{seed}/{epoch}").sample(tasks, len(tasks))
