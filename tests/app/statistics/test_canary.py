"""How a canary ends: by a loss that is shown, by proof, and never twice."""

import math
import random
from collections.abc import Iterator
from itertools import islice

import pytest

from app.statistics.arm_comparison import Arm, ArmComparison
from app.statistics.canary import Action, Canary, CanaryPlan, ServedRun, Vote, decide_canary

LOSS, WIN, TIE = Vote(Arm.STABLE), Vote(Arm.CANARY), Vote(None)


def serve(
    seed: int, *, errors: float = 0.02, slower: float = 1.0, dearer: float = 1.0, win_rate: float = 0.5
) -> Iterator[ServedRun | Vote]:
    """Yield runs of both arms in equal shares, the stable one with 2% errors, and a vote after each."""
    draws = random.Random(seed)
    while True:
        canary = draws.random() < 0.5
        yield ServedRun(
            Arm.CANARY if canary else Arm.STABLE,
            draws.random() < (errors if canary else 0.02),
            draws.lognormvariate(5, 0.5) * (slower if canary else 1),
            draws.lognormvariate(-1, 0.5) * (dearer if canary else 1),
        )
        yield WIN if draws.random() < win_rate else LOSS


def decide(most: int, seed: int = 5, plan: CanaryPlan | None = None, **given: float) -> tuple[Action, str]:
    found = decide_canary(plan or CanaryPlan(), islice(serve(seed, **given), most))
    return found.action, found.reason


def test_nothing_observed_is_held() -> None:
    assert decide_canary(CanaryPlan(), []).action is Action.HOLD_ON


def test_a_canary_that_loses_every_vote_is_rolled_back_after_eight() -> None:
    # 2^n / (n + 1) reaches 20 with n = 8.
    found = decide_canary(CanaryPlan(), [LOSS] * 20)
    assert (found.action, found.observations) == (Action.ROLL_BACK, 8)
    assert found.reason == "votes: it won 0 of 8"


def test_ties_do_not_count() -> None:
    assert decide_canary(CanaryPlan(), [TIE] * 500).action is Action.HOLD_ON
    assert decide_canary(CanaryPlan(), [TIE, LOSS] * 8).action is Action.ROLL_BACK


@pytest.mark.parametrize(("name", "given"), [("errors", {"errors": 0.2}), ("latency", {"slower": 3}), ("cost", {"dearer": 3})])
def test_a_loss_is_named(name: str, given: dict[str, float]) -> None:
    action, reason = decide(3_000, **given)
    assert action is Action.ROLL_BACK
    assert reason.startswith(name)


def test_a_decision_stays() -> None:
    canary = Canary(CanaryPlan())
    for vote in [LOSS] * 8 + [WIN] * 200:
        found = canary.observe(vote)
    assert (found.action, found.observations) == (Action.ROLL_BACK, 8)


def test_a_better_canary_is_promoted_when_all_is_shown() -> None:
    action, reason = decide(60_000, win_rate=0.6, slower=0.8, dearer=0.8, errors=0.0)
    assert action is Action.PROMOTE, reason


def test_what_is_not_known_yet_is_named() -> None:
    assert decide_canary(CanaryPlan(), [WIN] * 200).reason == "not known yet: errors, latency, cost"
    assert decide(100)[1] == "not known yet: votes, errors, latency, cost"


def test_seconds_and_dollars_of_failed_runs_do_not_count() -> None:
    """A canary that fails at once is not fast."""
    runs = [ServedRun(Arm.CANARY, True, 0.01, 0.0), ServedRun(Arm.STABLE, False, 100.0, 1.0)] * 10
    found = decide_canary(CanaryPlan(more_errors=0.999), runs * 30)
    assert "latency" in found.reason
    assert found.action is Action.HOLD_ON


def test_an_hour_in_which_all_is_slow_moves_both_arms() -> None:
    comparison = ArmComparison(math.log(1.1), math.log(10), 0.01, 0.05)
    for hour in range(300):
        for arm in (Arm.STABLE, Arm.STABLE, Arm.CANARY):
            comparison.observe(arm, math.log(100 * (10 if hour % 7 == 0 else 1)))
    assert not comparison.lost
    assert comparison.kept


@pytest.mark.parametrize("given", [{"errors": 0.04}, {"slower": 1.1}, {"dearer": 1.1}, {"win_rate": 0.45}])
def test_a_canary_as_bad_as_the_plan_allows_is_seldom_promoted(given: dict[str, float]) -> None:
    """The others are shown to be fine at once, so only the one at its limit stands in the way."""
    others = {"errors": 0.0, "slower": 0.5, "dearer": 0.5, "win_rate": 0.8} | given
    promoted = sum(decide(3_000, seed, **others)[0] is Action.PROMOTE for seed in range(60))
    assert promoted <= 60 * (0.05 + 2 * math.sqrt(0.05 * 0.95 / 60))
