"""`python -m bench.race`: compute RACE as DeepResearch Bench does on judged systems, and how much judgings of one system differ.

`max_abs_difference`: the greatest distance of a computed mean to the published one, which has four digits. `retest_sd`: the
standard deviation of the overall mean over five judgings of the same reports. `--judgements F --criteria F` scores judge
outputs strictly.
"""

import argparse
import statistics
from pathlib import Path

from app.domain.missing import Missing
from bench.labelled_sets import DATA
from bench.result import print_result, print_skipped
from training.evaluation.race import RaceScore, mean_scores, race_score
from training.evaluation.race_files import OVERALL, read_criteria, read_judgements, read_scores, read_summary

DRB = DATA / "drb"
PUBLISHED_DIGITS = 4


def scores_by_name(score: RaceScore) -> dict[str, float]:
    """Return the figures by their published names."""
    return {**{str(dimension): value for dimension, value in score.dimensions.items()}, OVERALL: score.overall}


def measure_published_difference(folder: Path) -> float:
    """Return the greatest difference between the computed means of a judged system and the published ones."""
    found = scores_by_name(mean_scores(list(read_scores(folder / "claude_3_7_race_raw.jsonl").values())))
    stated = read_summary(folder / "claude_3_7_race_result.txt")
    for name, value in stated.items():
        print(f"{name}: {found[name]:.6f}, published {value}")
    return max(abs(round(found[name], PUBLISHED_DIGITS) - value) for name, value in stated.items())


def measure_retest_sd(folder: Path) -> float:
    """Return the standard deviation of the overall mean over judgings of the same reports."""
    means = [mean_scores(list(read_scores(path).values())).overall for path in sorted(folder.glob("onyx_race_run_*.jsonl"))]
    print("judgings of one system:", ", ".join(f"{mean:.4f}" for mean in means))
    return statistics.stdev(means)


def score_file(judgements: Path, criteria: Path) -> None:
    """Score judge outputs, a line a task, and their mean."""
    wanted = read_criteria(criteria)
    scored: list[RaceScore] = []
    missing = 0
    for task, judgement in read_judgements(judgements).items():
        score = race_score(wanted[task], judgement) if task in wanted else Missing("the criteria file has no such task")
        if isinstance(score, Missing):
            missing += 1
            print(f"{task}: not scored: {score.reason}")
        else:
            scored.append(score)
            print(f"{task}: {' '.join(f'{name} {value:.4f}' for name, value in scores_by_name(score).items())}")
    if not scored:
        print_skipped("race", "no task of the file could be scored")
        return
    print_result("race", {**scores_by_name(mean_scores(scored)), "tasks": len(scored), "missing": missing})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=Path, help="judge outputs to score instead")
    parser.add_argument("--criteria", type=Path, default=DRB / "criteria.jsonl.gz")
    options = parser.parse_args()
    if options.judgements:
        score_file(options.judgements, options.criteria)
    elif not DRB.is_dir():
        print_skipped("race", "DeepResearch Bench is not at ../shared/data/drb")
    else:
        print_result("race", {"max_abs_difference": measure_published_difference(DRB), "retest_sd": measure_retest_sd(DRB)})


if __name__ == "__main__":
    main()
