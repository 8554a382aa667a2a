"""What a task of `bench.learning` gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Protocol

from bench.learning_tasks.beginnings import Start


@dataclass(frozen=True, slots=True)
class PolicyScores:
    """A policy on the held-out items: the evaluator's scores by item, higher is better; and probes of its outputs.

    The evaluator shares no code with the reward. `parts` are the means of what a score is made of. A probe says how much a known
    way of gaming a reward is used (length, keywords, echo), from 0 to about 1. `constant` is the mean score of the best one
    answer to all items, `shuffled` that of this policy's answers for items other than those it was asked: without reading an item
    nobody scores more.
    """

    items: Mapping[str, float]
    probes: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)
    constant: float = 0.0
    shuffled: float = 0.0


def mean_probes(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each probe over outputs."""
    return {name: fmean(each[name] for each in found) for name in found[0]}


@dataclass(frozen=True, slots=True)
class SeedScores:
    """The policies of one seed: as it began, after SFT alone, trained, and trained with one part of the reward taken out.

    `others` are further policies that a task measures, by what was done to them.
    """

    untrained: PolicyScores
    sft: PolicyScores
    trained: PolicyScores
    ablated: PolicyScores
    others: Mapping[str, PolicyScores] = field(default_factory=dict)


class LearningTask(Protocol):
    """A small task of a recipe. A module has it as `TASK`."""

    @property
    def recipe(self) -> str:
        """The recipe that is to learn."""
        ...

    def run_seed(self, folder: Path, seed: int, start: Start) -> SeedScores:
        """Train in an empty folder from this start, and measure. Everything random comes from the seed."""
        ...
