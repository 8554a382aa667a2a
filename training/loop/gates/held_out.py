"""The check whether held-out items are in a training set: by their ids, and as near-copies by their words."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from app.domain.value import Value
from training.decontamination.near_copies import WordOverlap
from training.evaluation.benchmarks.files import read_json_lines
from training.loop.gates.scores import ItemScore


class TrainedText(Value):
    """A query or item that the model was trained on."""

    id: str
    text: str = ""


class Leak(Value):
    """A held-out item, or query, that the model was trained on, and under which id. The likeness of the same id is 1."""

    held_out: str
    trained_on: str
    likeness: float


def read_trained(path: Path) -> list[TrainedText]:
    """Read what the model was trained on, from JSON Lines. Raises InvalidInput where a row cannot be read."""
    return read_json_lines(path, TrainedText.model_validate)


def find_leaks(scores: Iterable[ItemScore], trained: Sequence[TrainedText]) -> list[Leak]:
    """Find the items and queries that the model was trained on, by their ids or, where there are texts, as near-copies."""
    scores = list(scores)
    known = {each.id for each in trained}
    names = sorted({name for score in scores for name in (score.query, score.item)} & known)
    return [*(Leak(held_out=name, trained_on=name, likeness=1.0) for name in names), *_find_copies(scores, trained, {*names})]


def _find_copies(scores: Iterable[ItemScore], trained: Sequence[TrainedText], found: set[str]) -> list[Leak]:
    with_text = [each for each in trained if each.text.strip()]
    overlap = WordOverlap([each.text for each in with_text])
    texts = {score.query: score.text for score in scores if score.text.strip() and score.query not in found}
    near = ((query, overlap.find_near(text)) for query, text in sorted(texts.items()))
    return [
        Leak(held_out=query, trained_on=with_text[place].id, likeness=round(likeness, 4))
        for query, places in near
        for place, likeness in [max(places.items(), key=lambda each: each[1], default=(0, 0.0))]
        if places
    ]
