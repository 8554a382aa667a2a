"""`python -m bench.served --kept FOLDER [--results FILE ...]`: whether what recipes learned shows where they serve.

FOLDER is what `python -m bench.learning --keep FOLDER` left, and FILE its last line (default: bench/results/learning.json). Each
recipe that learned there (`counted_gain` and `ci_low` above 0) is served: for each seed the policy after SFT alone and the
trained one, each behind `python -m training.serving`, under the name of its digest. The held-out items of the recipe's task are
asked through the product: its client of models, its prompts, the stage that serves readers, its reading of answers. The task's
own evaluator rates what comes out.

`recipes` is how many recipes learned and are served, `learned` how many learned, and `moved` how many of those served show at
least half of the gain over SFT that the learning bench found (`RECIPE_learned_gain`). `RECIPE_gain` is the gain where policies
are sampled at temperature 1, as they were in training: the setting `temperature` of a served model. `RECIPE_cool_gain` and
`cool_moved` are of served models without the setting: each step of the product then has its own temperature, which is 0 at
first. `--add FILE` adds the figures of an earlier run of other recipes.
"""

import argparse
import asyncio
import importlib.util
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

from bench.learning import SEEDS
from bench.result import add_figures, print_result, print_skipped

TASKS = {
    "sft_cold_start": "searches:rate_short_searches",
    "preference_dpo": "reports:rate_dated_reports",
    "self_sft": "reports:rate_dated_reports",
    "rubric_generator": "rubrics:rate_rubrics",
    "report_rl": "reports:rate_short_reports",
    "search_rl": "searches:rate_planted_searches",
    "agent_rl": "searches:rate_planted_reports",
}
RESULTS = Path(__file__).parent / "results" / "learning.json"
TRAINED_AT = 1.0
SHOWS = 0.5
WAYS: Mapping[str, float | None] = {"": TRAINED_AT, "cool_": None}
"""How policies are sampled, by the beginning of the figures' names: at one temperature, or at each step's own."""
Rates: TypeAlias = Sequence[Mapping[str, float]]
SeedRates: TypeAlias = Mapping[str, Mapping[str, Rates]]
"""What the evaluator says of each item, by way and policy."""


def read_learned(files: Sequence[Path]) -> dict[str, float]:
    """Return the gain of each recipe that learned, by the last lines of the learning bench."""
    figures = {name: value for file in files for name, value in json.loads(file.read_text().splitlines()[-1])["figures"].items()}
    known = [recipe for recipe in TASKS if f"{recipe}_trained" in figures]
    learned = [each for each in known if figures[f"{each}_counted_gain"] > 0 and figures[f"{each}_ci_low"] > 0]
    return {each: figures[f"{each}_trained"] - figures[f"{each}_baseline"] for each in learned}


def summarise(recipe: str, learned: float, seeds: Sequence[SeedRates]) -> dict[str, float]:
    """Return a recipe's figures; the scores are means over its seeds."""
    figures = {"learned_gain": learned, "seeds": float(len(seeds))}
    for way in WAYS:
        sft, trained = (fmean(mean_score(each[way][policy]) for each in seeds) for policy in ("sft", "trained"))
        figures |= {f"{way}sft": sft, f"{way}trained": trained, f"{way}gain": trained - sft}
    return {f"{recipe}_{name}": value for name, value in figures.items()}


def mean_score(rates: Rates) -> float:
    """Return the mean score of the items."""
    return fmean(each["score"] for each in rates)


def count(gains: Mapping[str, float], figures: Mapping[str, float]) -> dict[str, float]:
    """Return how many recipes learned, were served, and show at least half of their gain in each way."""
    served = [recipe for recipe in gains if f"{recipe}_gain" in figures]
    moved = {way: [each for each in served if figures[f"{each}_{way}gain"] >= SHOWS * gains[each]] for way in WAYS}
    counted = {"learned": len(gains), "recipes": len(served), **{f"{way}moved": len(each) for way, each in moved.items()}}
    return {name: float(number) for name, number in counted.items()}


async def serve_seed(recipe: str, seed: int, folder: Path) -> SeedRates | None:
    """Serve the policies of a seed, and ask each in both ways; None where they are not there."""
    from bench.served_tasks.policies import find_policies, open_policy

    kept = find_policies(folder)
    if kept is None:
        return None
    module, _, name = TASKS[recipe].partition(":")
    rate: Callable[..., Awaitable[Rates]] = getattr(import_module(f"bench.served_tasks.{module}"), name)

    async def ask(model: Path) -> dict[str, Rates]:
        async with open_policy(model, kept.sft, recipe.replace("_", "-"), seed) as at:
            return {way: await rate(at(temperature), seed, folder) for way, temperature in WAYS.items()}

    sft, trained = await asyncio.gather(ask(kept.sft), ask(kept.trained))
    return {way: {"sft": sft[way], "trained": trained[way]} for way in WAYS}


def serve_recipe(recipe: str, learned: float, kept: Path, most: int) -> dict[str, float]:
    """Serve the first seeds of a recipe, and tell each; no figures where none has its policies."""
    folders = sorted((kept / recipe).glob("*"), key=lambda each: each.name) if (kept / recipe).is_dir() else []
    seeds = []
    for folder in folders[:most]:
        if (found := asyncio.run(serve_seed(recipe, int(folder.name), folder))) is None:
            print(json.dumps({"recipe": recipe, "seed": int(folder.name), "not_served": "its policies are missing"}), flush=True)
            continue
        seeds.append(found)
        print(json.dumps({"recipe": recipe, "seed": int(folder.name), **describe(found)}), flush=True)
    if not seeds:
        print(json.dumps({"recipe": recipe, "not_served": f"{kept} has no policy of it"}), flush=True)
    return summarise(recipe, learned, seeds) if seeds else {}


def describe(found: SeedRates) -> dict[str, dict[str, float]]:
    """Return the means of what the evaluator says, by way and policy."""
    return {
        f"{way}{policy}": {name: round(fmean(each[name] for each in rates), 4) for name in rates[0]}
        for way, policies in found.items()
        for policy, rates in policies.items()
    }


def main() -> None:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, required=True, help="the folder of `bench.learning --keep`")
    parser.add_argument("--results", type=Path, nargs="+", default=[RESULTS], help="last lines of `bench.learning`")
    parser.add_argument("--recipe", choices=[*TASKS], help="only this one")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--add", type=Path, help="the output of an earlier run, whose figures are added")
    options = parser.parse_args()
    if importlib.util.find_spec("peft") is None:
        print_skipped("served", "a policy needs torch and PEFT: make setup-train")
        return
    asked, gains = [options.recipe] if options.recipe else [*TASKS], read_learned(options.results)
    for recipe in asked:
        if recipe not in gains:
            print(json.dumps({"recipe": recipe, "not_served": "the results do not show that it learned"}), flush=True)
    gains = {recipe: gains[recipe] for recipe in asked if recipe in gains}
    figures = {
        name: value
        for recipe, gain in gains.items()
        for name, value in serve_recipe(recipe, gain, options.kept.resolve(), options.seeds).items()
    }
    print_result("served", add_figures({**count(gains, figures), **figures}, options.add))


if __name__ == "__main__":
    main()
