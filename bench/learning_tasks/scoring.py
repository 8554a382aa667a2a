"""Scoring a policy's answers, with what a recipe has to beat: the best constant answer, and the policy's own on other inputs."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias, TypeVar

from bench.learning_tasks.protocol import PolicyScores, mean_probes

Answer = TypeVar("Answer")
Item = TypeVar("Item")
Rate: TypeAlias = Callable[[Answer, Item], Mapping[str, float]]
SCORE = "score"


def score_answers(
    answers: Mapping[str, Answer],
    items: Mapping[str, Item],
    rate: Rate[Answer, Item],
    probe: Rate[Answer, Item],
    key: Callable[[Item], Hashable],
    ideals: Sequence[Answer] = (),
) -> PolicyScores:
    """Score answers by the names of their items; an item without an answer scores 0.

    `rate` returns the `score` of an answer to an item and the parts that it is made of. Inputs are the same to a policy that does
    not read where `key` is. A constant answer is one of the policy's or of `ideals`.
    """
    rated = {name: rate(answer, items[name]) for name, answer in answers.items()}
    parts = [name for name in next(iter(rated.values()), {}) if name != SCORE]
    return PolicyScores(
        items={name: rated[name][SCORE] if name in rated else 0.0 for name in items},
        probes=mean_probes([probe(answer, items[name]) for name, answer in answers.items()]),
        parts={part: sum(each[part] for each in rated.values()) / len(items) for part in parts},
        constant=find_constant([*answers.values(), *ideals], items, rate),
        shuffled=score_shuffled(answers, items, rate, key),
    )


def find_constant(candidates: Sequence[Answer], items: Mapping[str, Item], rate: Rate[Answer, Item]) -> float:
    """Return the best mean score that one answer to all items has."""
    return max(fmean(rate(answer, item)[SCORE] for item in items.values()) for answer in candidates)


def score_shuffled(
    answers: Mapping[str, Answer],
    items: Mapping[str, Item],
    rate: Rate[Answer, Item],
    key: Callable[[Item], Hashable],
) -> float:
    """Return the mean score of each item's answer for all items with another key: who does not read scores no less."""
    scores = [
        rate(answer, other)[SCORE]
        for name, answer in answers.items()
        for other in items.values()
        if key(other) != key(items[name])
    ]
    return fmean(scores) if scores else 0.0
