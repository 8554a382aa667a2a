"""`python -m bench.loop`: from readers' votes to a promoted model, unattended, on the real stack.

`before` and `after` are how far rubrics that the product drafts put what readers of new questions want over the rest (0 to 1),
before the cycle of retraining and after it; `constant` is the best score that needs no question. `ci_low` is the lower end of
Student's 95% interval of the mean gain, with the questions of all seeds together.
`spoiled_refused` is the share of spoiled candidates that the same exam and gate refuse, `minutes` the longest time from
`rubrica retrain start` to the promotion. A seed whose cycle promotes nothing counts with what serves then; `promoted` tells how
many did.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from pydantic import TypeAdapter

from app.domain.missing import Missing
from bench.loop.plan import Measures
from bench.loop.spoiled import SPOILED
from bench.loop.story import Story, tell_story
from bench.result import print_result
from training.evaluation.intervals import estimate_difference

SEEDS = 3


def collect_figures(stories: Sequence[Story]) -> dict[str, float]:
    """Return the figures under their published names."""
    gain = estimate_difference(fmean, [gain for story in stories for gain in story.gains])
    refused = [story.spoiled_refused for story in stories if story.spoiled_refused is not None]
    return {
        "before": fmean(score for story in stories for score in story.before),
        "after": fmean(score for story in stories for score in story.after),
        "constant": fmean(story.constant for story in stories),
        "ci_low": float("-inf") if isinstance(gain, Missing) else gain.low,
        "spoiled_refused": min(refused, default=0.0),
        "minutes": max(story.minutes for story in stories),
        "seeds": len(stories),
        "promoted": sum(story.promoted for story in stories),
    }


def make_teller(began: float) -> Callable[[str], None]:
    """Return what prints a sentence of the story with its minute."""

    def tell(said: str) -> None:
        print(f"[{(time.monotonic() - began) / 60:5.1f} min] {said}", flush=True)

    return tell


def run_seeds(folder: Path, seeds: int, measures: Measures) -> list[Story]:
    """Tell the story of each seed. Spoiled candidates are tried with the first."""
    tell = make_teller(time.monotonic())
    return [
        keep_story(folder / f"seed-{seed}", seed, replace(measures, spoils=() if seed else tuple(SPOILED)), tell)
        for seed in range(seeds)
    ]


def keep_story(folder: Path, seed: int, measures: Measures, tell: Callable[[str], None]) -> Story:
    """Tell the story of a seed and keep it; one that is kept is not told again."""
    kept, adapter = folder / "story.json", TypeAdapter(Story)
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(adapter.dump_json(asyncio.run(tell_story(folder, seed, measures, tell))))
    return adapter.validate_json(kept.read_bytes())


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--pairs", type=int, default=Measures().pairs, help="questions that readers compare reports on")
    parser.add_argument("--keep", type=Path, help="a folder for all that is made; seeds that are whole there are not run again")
    options = parser.parse_args()
    measures = Measures(pairs=options.pairs)
    with tempfile.TemporaryDirectory(prefix="rubrica-loop-") as folder:
        stories = run_seeds(options.keep or Path(folder), options.seeds, measures)
    print_result("loop", collect_figures(stories))


if __name__ == "__main__":
    main()
