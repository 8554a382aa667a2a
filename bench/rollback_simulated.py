"""When a canary is rolled back, in simulation: losses that are seen, and healthy canaries that are rolled back by chance.

    python -m bench.rollback_simulated

Half of all runs go to the canary; the stable model fails in 2% of its runs, latency and cost are log-normal with a spread of a
half. `errors_runs`, `slow_runs`: runs of both arms, medians of 100 canaries, until one with 20% errors, or three times slower,
is rolled back; `votes`: votes until one that loses 70 of 100 is. `unseen`: canaries of these that were not rolled back within
3,000 observations. `false_rollbacks`: the share of 200 canaries like the stable model that are rolled back within 2,000 runs
and 1,000 votes.
"""

import random
from collections.abc import Iterator
from itertools import islice
from statistics import median

from app.statistics.arm_comparison import Arm
from app.statistics.canary import Action, CanaryDecision, CanaryPlan, ServedRun, Vote, decide_canary
from bench.result import print_result

CANARIES, HEALTHY = 100, 200
RUNS, EVERY = 2_000, 3
MOST = 3_000


def serve_runs(draws: random.Random, errors: float = 0.02, slower: float = 1.0) -> Iterator[ServedRun]:
    """Yield runs of both arms."""
    while True:
        arm = draws.choice([*Arm])
        canary = arm is Arm.CANARY
        yield ServedRun(
            arm,
            draws.random() < (errors if canary else 0.02),
            draws.lognormvariate(5, 0.5) * (slower if canary else 1),
            draws.lognormvariate(-1, 0.5),
        )


def cast_votes(draws: random.Random, win_rate: float) -> Iterator[Vote]:
    """Yield votes of which the canary wins so many."""
    while True:
        yield Vote(Arm.CANARY if draws.random() < win_rate else Arm.STABLE)


def observe_healthy(draws: random.Random) -> Iterator[ServedRun | Vote]:
    """Yield runs of a canary that is like the stable model, and a vote after every second one."""
    runs, votes = serve_runs(draws), cast_votes(draws, 0.5)
    while True:
        yield from (next(runs), next(runs), next(votes))


def decide(observations: Iterator[ServedRun | Vote], most: int) -> CanaryDecision:
    """Return the decision after so many observations."""
    return decide_canary(CanaryPlan(), islice(observations, most))


def main() -> None:
    bad = {
        "errors_runs": [decide(serve_runs(random.Random(n), errors=0.2), MOST) for n in range(CANARIES)],
        "slow_runs": [decide(serve_runs(random.Random(n), slower=3), MOST) for n in range(CANARIES)],
        "votes": [decide(cast_votes(random.Random(n), 0.3), MOST) for n in range(CANARIES)],
    }
    healthy = [decide(observe_healthy(random.Random(n)), RUNS * EVERY // 2) for n in range(HEALTHY)]
    unseen = sum(found.action is not Action.ROLL_BACK for decisions in bad.values() for found in decisions)
    false = sum(found.action is Action.ROLL_BACK for found in healthy) / HEALTHY
    for name, decisions in bad.items():
        seen = sorted(found.observations for found in decisions)
        print(f"{name}: half within {median(seen):g}, nine in ten within {seen[9 * CANARIES // 10]}")
    print(f"healthy: {sum(found.action is Action.PROMOTE for found in healthy)} of {HEALTHY} promoted meanwhile")
    medians = {name: median(found.observations for found in decisions) for name, decisions in bad.items()}
    print_result("rollback_simulated", {**medians, "unseen": unseen, "false_rollbacks": false})


if __name__ == "__main__":
    main()
