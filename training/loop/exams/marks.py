"""The marks of an answer by metric, and the scores that a gate compares: the same item before and after."""

from collections.abc import Iterator, Mapping

from app.domain.missing import Missing
from training.loop.gates.scores import ItemScore
from training.rewards.score import Score

Marks = Mapping[str, Score]


def join_marks(query: str, item: str, before: Marks, after: Marks) -> Iterator[ItemScore]:
    """Yield a score for each metric. What could not be judged is a score that is missing: the gate counts it."""
    for metric in before:
        old, new = (None if isinstance(mark, Missing) else mark for mark in (before[metric], after[metric]))
        yield ItemScore(metric=metric, query=query, item=item, before=old, after=new, text=query)
