"""`python -m training.loop.power FOLDER` or `--n N --gain G`: what a gate promotes, by simulation.

Of a folder (see `training.loop.gate`) it takes the plan, and queries and noise from the scores. `--n N` asks for N queries of
each metric instead, and without scores `--spread` is the standard deviation of a change over queries. Exit codes: 0, or 2 where
the input cannot be used.
"""

import argparse
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from app.domain.errors import InvalidInput
from training.loop.gate import BAD_INPUT, PLAN, SCORES
from training.loop.gates.bootstrap import measure_spread
from training.loop.gates.plan import GatePlan, read_plan
from training.loop.gates.rows import count_needed
from training.loop.gates.scores import MetricScores, group_scores, read_scores
from training.loop.gates.simulation import Promotions, invent_scores, list_lacking, simulate_promotions

CANDIDATES = 500


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m training.loop.power", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", help="a folder with gate.toml, and scores.jsonl if there are scores")
    parser.add_argument("--n", type=int, help="queries of each metric; those of the scores if it is not given")
    parser.add_argument(
        "--gain", type=float, default=0.05, help="the gain to show, where there is no plan; margins are the usual"
    )
    parser.add_argument("--spread", type=float, default=0.3, help="noise of a query's change, where there are no scores")
    parser.add_argument("--candidates", type=int, default=CANDIDATES, help="simulated candidates of each kind")
    return parser.parse_args()


def plan_usual(gain: float) -> GatePlan:
    """Return a plan with the usual margins, for a simulation without a folder."""
    stated = datetime(2000, 1, 1, tzinfo=UTC)
    names = {"gate_judge": "the gate's judge", "reward_judge": "the reward's", "set_maker": "the maker"}
    superiority = {"metric": "quality", "gain": gain}
    return GatePlan.model_validate({"stated": stated, "cycle_starts": stated + timedelta(1), "superiority": superiority, **names})


def read_input(folder: Path | None, n: int | None, gain: float, spread: float) -> tuple[GatePlan, dict[str, MetricScores]]:
    """Read a folder's plan and scores; what it lacks is invented.

    Raises:
        InvalidInput: a file cannot be used, scores are too few, or nobody says how many queries there are.
    """
    plan = plan_usual(gain) if folder is None else read_plan(folder / PLAN, datetime.now(UTC))
    if folder is None or not (folder / SCORES).exists():
        if n is None:
            raise InvalidInput("there are no scores: say with --n how many queries there will be")
        return plan, invent_scores(plan, spread)
    seen = group_scores(read_scores(folder / SCORES))
    if lacking := list_lacking(plan, seen):
        raise InvalidInput(f"{folder / SCORES} has fewer than two queries of {', '.join(lacking)}")
    return plan, seen


def write_promotions(plan: GatePlan, seen: dict[str, MetricScores], queries: dict[str, int], found: Promotions) -> str:
    """Write what was promoted, and how many queries each proof takes."""
    first, *others = plan.list_proofs()
    lines = [
        f"{found.power:.1%} promoted with a gain of {first.expected:g} in {first.metric} (planned: {plan.power:.0%} or more)",
        f"{found.without_effect:.1%} promoted without any effect",
        *(
            f"{share:.1%} promoted with that gain and a loss of {metric} by its margin"
            for metric, share in found.at_margin.items()
        ),
        "",
        *(
            f"{proof.metric}: {queries[proof.metric]} queries, "
            f"{count_needed(proof, measure_spread(seen[proof.metric], proof.relative), plan)} needed"
            for proof in (first, *others)
        ),
    ]
    return "\n".join(lines)


def main() -> int:
    """Simulate, and print what was promoted."""
    told = read_arguments()
    try:
        plan, seen = read_input(told.folder, told.n, told.gain, told.spread)
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    queries = {metric: told.n or len(values.before) for metric, values in seen.items()}
    print(write_promotions(plan, seen, queries, simulate_promotions(plan, seen, queries, told.candidates)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
