"""The scores of an exam: one line an item and metric, of the present holder and of the candidate."""

from collections.abc import Iterable
from pathlib import Path

from app.domain.value import Value
from training.folders import replace_file

SCORES = "scores.jsonl"


class ItemScore(Value):
    """An item's score by a metric. Items of one query move together. `before` is the holder's, `after` the candidate's."""

    metric: str
    query: str
    item: str
    before: float
    after: float


def write_scores(folder: Path, scores: Iterable[ItemScore]) -> None:
    """Write all scores of an exam."""
    replace_file(folder / SCORES, b"".join(score.model_dump_json().encode() + b"\n" for score in scores))
