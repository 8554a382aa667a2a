"""The decision over a canary: a new model that serves a share of all runs beside the stable one.

    decision = decide_canary(CanaryPlan(), observations)    # votes and runs, in the order in which they began

A loss that is shown, in votes, errors, latency or cost, rolls the canary back at once. It is promoted when all four are shown to
be no worse than the plan allows. What ends it first decides, and later observations change nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import log

from app.statistics.arm_comparison import Arm, ArmComparison
from app.statistics.beta_mixture import ALPHA, is_above, is_below

EVEN = 0.5
TENFOLD = log(10)
"""Latency and cost count as logarithms of ratios, at most tenfold either way."""


class Action(StrEnum):
    """What to do with a canary."""

    HOLD_ON = "hold on"
    PROMOTE = "promote"
    ROLL_BACK = "roll back"


@dataclass(frozen=True, slots=True)
class Vote:
    """A reader's choice between a report of each arm. No winner is a tie, which does not count."""

    winner: Arm | None


@dataclass(frozen=True, slots=True)
class ServedRun:
    """A run that one arm served. Its seconds and dollars (above 0) count if it did not fail."""

    arm: Arm
    failed: bool
    seconds: float
    dollars: float


@dataclass(frozen=True, slots=True)
class CanaryPlan:
    """What a canary may lose: a share of votes, errors (a difference of shares), latency and cost (ratios minus 1).

    `alpha` is the largest chance to roll back a canary that loses nothing, however long one looks, and to promote one of which
    some figure is as bad as the plan allows. Half of it is for votes, the rest in equal parts for the other three.
    """

    alpha: float = ALPHA
    least_win_rate: float = 0.45
    more_errors: float = 0.02
    slower: float = 0.1
    dearer: float = 0.1


@dataclass(frozen=True, slots=True)
class CanaryDecision:
    """What to do, why, and after how many observations that was clear (for `hold on`: all)."""

    action: Action
    reason: str
    observations: int


class Canary:
    """A canary under way. Its decision stays once it is not `hold on`."""

    def __init__(self, plan: CanaryPlan) -> None:
        self._plan = plan
        limits = {
            "errors": (plan.more_errors, 1.0),
            "latency": (log(1 + plan.slower), TENFOLD),
            "cost": (log(1 + plan.dearer), TENFOLD),
        }
        self._measures = {name: ArmComparison(*limit, plan.alpha / 6, plan.alpha) for name, limit in limits.items()}
        self._votes = dict.fromkeys(Arm, 0)
        self._votes_kept = False
        self.decision = CanaryDecision(Action.HOLD_ON, "nothing was observed", 0)

    def observe(self, observation: Vote | ServedRun) -> CanaryDecision:
        """Take one observation, and return the decision."""
        if self.decision.action is Action.HOLD_ON:
            self._take(observation)
            self.decision = CanaryDecision(*self._decide(), self.decision.observations + 1)
        return self.decision

    def _take(self, observation: Vote | ServedRun) -> None:
        if isinstance(observation, ServedRun):
            self._take_run(observation)
        elif observation.winner is not None:
            self._votes[observation.winner] += 1
            won, lost = self._votes.values()
            self._votes_kept = self._votes_kept or is_above(won, lost, self._plan.least_win_rate, self._plan.alpha)

    def _take_run(self, run: ServedRun) -> None:
        self._measures["errors"].observe(run.arm, float(run.failed))
        if not run.failed:
            self._measures["latency"].observe(run.arm, log(run.seconds))
            self._measures["cost"].observe(run.arm, log(run.dollars))

    def _decide(self) -> tuple[Action, str]:
        won, lost = self._votes.values()
        # Of equal reports each side is shown to lose equally often: half of the two-sided test's alpha is the canary's.
        if is_below(won, lost, EVEN, self._plan.alpha):
            return Action.ROLL_BACK, f"votes: it won {won} of {won + lost}"
        if worse := [name for name, measure in self._measures.items() if measure.lost]:
            return Action.ROLL_BACK, f"{', '.join(worse)}: shown to be worse than the plan allows"
        open_ = [] if self._votes_kept else ["votes"]
        if open_ := [*open_, *(name for name, measure in self._measures.items() if not measure.kept)]:
            return Action.HOLD_ON, f"not known yet: {', '.join(open_)}"
        return Action.PROMOTE, "votes, errors, latency and cost are shown to be no worse than the plan allows"


def decide_canary(plan: CanaryPlan, observations: Iterable[Vote | ServedRun]) -> CanaryDecision:
    """Return the decision after all observations, which come in the order in which their runs began."""
    canary = Canary(plan)
    for observation in observations:
        canary.observe(observation)
    return canary.decision
