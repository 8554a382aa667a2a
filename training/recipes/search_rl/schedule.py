"""The schedule of the reward's weights (MindDR 5.2): three phases, each begun when one part of the reward is saturated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import fmean

from training.recipes.run_folder import StepMetrics
from training.rewards.composites import SearchWeights


class RewardPart(StrEnum):
    """The parts of MindDR Eq. 9, by their names in `Reward.parts`."""

    TOOL = "tool"
    FORMAT = "format"
    PROCESS = "process"
    OUTCOME = "outcome"


TOOL_RATE, FORMAT_RATE = "tool_success", "form"
"""Rates in `Reward.parts` without a weight: the shares of tool steps that succeeded, and of steps in form."""
RATES: Mapping[RewardPart, str] = {
    RewardPart.TOOL: TOOL_RATE,
    RewardPart.FORMAT: FORMAT_RATE,
    RewardPart.PROCESS: RewardPart.PROCESS,
}
LOGGED_PART, LOGGED_WEIGHT = "part/", "weight/"


@dataclass(frozen=True, slots=True)
class SchedulePhase:
    """A phase: it begins when the rate of `part` is at least `reaches`, and has these weights from then on."""

    part: RewardPart
    reaches: float
    weights: SearchWeights


class RewardSchedule:
    """Phases begin one after the other: each when its rate, averaged over the last `window` logged steps, is high enough.

    Steps before the last change do not count, so that two changes are at least `window` logged steps apart. Everything is read
    from what a run has logged, and a run that goes on has the same weights. `weights` are those in force.
    """

    def __init__(
        self, start: SearchWeights, phases: Sequence[SchedulePhase], window: int, logged: Sequence[StepMetrics] = ()
    ) -> None:
        self._start, self._phases, self._window = start, tuple(phases), window
        self.weights = self._find_weights(len(_list_changes(logged)))

    def __call__(self, logged: Sequence[StepMetrics], _: Mapping[str, float]) -> Mapping[str, float]:
        """Return the weights of the next step by the names of the parts, from all that was logged before."""
        changes = _list_changes(logged)
        recent = logged[changes[-1] + 1 :] if changes else logged
        begun = len(changes)
        if begun < len(self._phases) and self._is_reached(self._phases[begun], recent):
            begun += 1
        self.weights = self._find_weights(begun)
        return weigh_parts(self.weights)

    def _find_weights(self, begun: int) -> SearchWeights:
        return self._phases[begun - 1].weights if begun else self._start

    def _is_reached(self, phase: SchedulePhase, recent: Sequence[StepMetrics]) -> bool:
        name = LOGGED_PART + RATES[phase.part]
        rates = [each.values[name] for each in recent if name in each.values][-self._window :]
        return len(rates) == self._window and fmean(rates) >= phase.reaches


def _list_changes(logged: Sequence[StepMetrics]) -> list[int]:
    """Return the places in the log at which the weights changed. They are logged from the beginning on."""
    names = [LOGGED_WEIGHT + part for part in RewardPart]
    told = [(place, each.values) for place, each in enumerate(logged) if names[0] in each.values]
    return [place for (_, before), (place, now) in pairwise(told) if any(before[name] != now[name] for name in names)]


def weigh_parts(weights: SearchWeights) -> Mapping[str, float]:
    """Return the weights by the names of the parts."""
    return {
        RewardPart.TOOL: weights.tool,
        RewardPart.FORMAT: weights.format,
        RewardPart.PROCESS: weights.process,
        RewardPart.OUTCOME: weights.outcome,
    }
