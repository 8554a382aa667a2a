"""Scores of held-out items before and after training, and the values by query that proofs are made of."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from app.domain.errors import InvalidInput
from app.domain.value import Value
from training.evaluation.benchmarks.files import read_json_lines

Values = NDArray[np.float64]


class ItemScore(Value):
    """A held-out item's score by one metric, with the model before and after; null where it could not be had.

    The item of a probe is a spoilt answer beside the plain one that it was made from; its score is its advantage over that one,
    by the judge or rubric generator before and after. `before_text` and `after_text` are the ids of what was scored, `text` is
    the query's, by which near-copies in a training set are found.
    """

    metric: str = Field(min_length=1)
    query: str
    item: str
    before: float | None = Field(allow_inf_nan=False)
    after: float | None = Field(allow_inf_nan=False)
    before_text: str = ""
    after_text: str = ""
    text: str = ""


@dataclass(frozen=True)
class MetricScores:
    """The mean scores of each query by one metric, before and after, and the number of items without a score."""

    before: Values
    after: Values
    missing: int = 0


def read_scores(path: Path) -> list[ItemScore]:
    """Read scores from JSON Lines.

    Raises:
        InvalidInput: a row cannot be read, an item is scored twice by one metric, or there is no row.
    """
    scores = read_json_lines(path, ItemScore.model_validate)
    counts = Counter((score.metric, score.query, score.item) for score in scores)
    if twice := [key for key, count in counts.items() if count > 1]:
        raise InvalidInput(f"{path} scores {twice[0][2]!r} of query {twice[0][1]!r} twice by {twice[0][0]}")
    if not scores:
        raise InvalidInput(f"{path} has no scores")
    return scores


def group_scores(scores: Iterable[ItemScore]) -> dict[str, MetricScores]:
    """Return the values of each metric by query. Each query counts once, however many items it has: they hang together."""
    found: defaultdict[str, list[ItemScore]] = defaultdict(list)
    for score in scores:
        found[score.metric].append(score)
    return {metric: _average_queries(of_metric) for metric, of_metric in found.items()}


def _average_queries(scores: Sequence[ItemScore]) -> MetricScores:
    queries: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    missing = 0
    for score in scores:
        if score.before is None or score.after is None:
            missing += 1
        else:
            queries[score.query].append((score.before, score.after))
    means = np.array([np.mean(pairs, axis=0) for pairs in queries.values()], dtype=np.float64).reshape(-1, 2)
    return MetricScores(means[:, 0], means[:, 1], missing)
