"""`python -m bench.learning [--recipe NAME] [--seeds N] [--base FOLDER] [--keep FOLDER]`: whether recipes learn, each on a task
of minutes.

For each seed four policies are measured on the same held-out items: with the weights that it began with, after SFT alone (the
baseline), trained by the recipe, and trained with one part of the reward taken out. The evaluator shares no code with the
reward. The gain is trained minus SFT. `ci_low` is the lower end of Student's interval of its mean, with the items of all seeds
taken as independent: it covers which items were drawn, and hardly the luck of a seed, whose items move together. So
`least_gain` is the smallest of the seeds' mean gains. `probe_gain` is the largest rise over SFT of a probe: how much
outputs use length, keywords or echoes to please a judge.

A gain counts only above what needs no input. `constant` is the score of the best one answer to all items, among those that any
policy gave and some that the task knows; `shuffled` is that of the trained policy's answers for other items than they were given
for. `counted_gain` is trained minus the largest of SFT, constant and shuffled, of the seed where that is least. A score is made
of parts, and each is told after SFT and trained; `least_part_gain` is the mean gain of the part that gains least.

Policies begin as tiny models of random weights, on the CPU. With `--base` they begin with the weights of a folder. Then limits of
tokens are ten times as high, and learning rates two hundred times as low; nobody tuned either. With `--base`, another
`--dtype` or a GPU the row is `learning_gpu`, and its machine names GPU, base and type. Keep it as results/learning_gpu.json, so
that the row of the tiny models stays, and give it limits of its own with `module = "learning"`.
"""

import argparse
import importlib.util
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from statistics import fmean

from app.domain.missing import Missing
from bench.learning_tasks.beginnings import Start, choose_device
from bench.learning_tasks.protocol import LearningTask, PolicyScores, SeedScores
from bench.result import print_result, print_skipped
from training.evaluation.intervals import estimate_difference

TASKS = {
    "sft_cold_start": "cold_start",
    "preference_dpo": "preferences",
    "self_sft": "good_outputs",
    "rubric_generator": "rubrics",
    "report_rl": "reports",
    "search_rl": "searches",
    "agent_rl": "agents",
}
SEEDS = 3
FIRST_SEED = 1
"""Tasks were tuned with seed 0, which is not measured."""
TINY = Start()


def run_task(task: LearningTask, seeds: int, start: Start, kept: Path | None = None) -> list[SeedScores]:
    """Run the seeds of a task, and tell each; their policies stay in `kept`/RECIPE/SEED where it is given."""
    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        with open_folder(kept and kept / task.recipe / str(seed)) as folder:
            found.append(task.run_seed(folder, seed, start))
        told = {"recipe": task.recipe, "seed": seed, "gain": round(gain_of(found[-1]), 4), **describe_seed(found[-1])}
        print(json.dumps(told), flush=True)
    return found


@contextmanager
def open_folder(kept: Path | None) -> Iterator[Path]:
    """Give an empty folder, which goes afterwards unless it is the one to keep; FileExistsError where that is not empty."""
    if kept is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    else:
        kept.mkdir(parents=True)
        yield kept


def describe_seed(scores: SeedScores) -> dict[str, object]:
    """Return the means and the probes of a seed's policies."""
    policies = {"untrained": scores.untrained, "sft": scores.sft, "trained": scores.trained, "ablated": scores.ablated}
    policies |= scores.others
    return {
        name: {
            "score": round(mean_of(each), 4),
            "constant": each.constant,
            "shuffled": each.shuffled,
            **each.parts,
            **each.probes,
        }
        for name, each in policies.items()
    }


def mean_of(scores: PolicyScores) -> float:
    """Return the mean over the items."""
    return fmean(scores.items.values())


def gain_of(scores: SeedScores) -> float:
    """Return a seed's mean gain over SFT."""
    return mean_of(scores.trained) - mean_of(scores.sft)


def summarise(recipe: str, seeds: Sequence[SeedScores]) -> dict[str, float]:
    """Return a task's figures."""
    pairs = [(each.sft.items[item], score) for each in seeds for item, score in each.trained.items.items()]
    gain = estimate_difference(lambda some: fmean(after - before for before, after in some), pairs)
    figures = {
        "constant": fmean(map(find_constant, seeds)),
        "shuffled": fmean(each.trained.shuffled for each in seeds),
        "counted_gain": min(map(count_gain, seeds)),
        **summarise_parts(seeds),
        "untrained": fmean(mean_of(each.untrained) for each in seeds),
        "baseline": fmean(mean_of(each.sft) for each in seeds),
        "trained": fmean(mean_of(each.trained) for each in seeds),
        "ablated": fmean(mean_of(each.ablated) for each in seeds),
        "least_gain": min(map(gain_of, seeds)),
        "ci_low": float("-inf") if isinstance(gain, Missing) else gain.low,
        "seeds": float(len(seeds)),
        "probe_gain": find_probe_gain([(each.sft, each.trained) for each in seeds]),
    }
    for name in seeds[0].others:
        figures[name] = fmean(mean_of(each.others[name]) for each in seeds)
        figures[f"{name}_probe_gain"] = find_probe_gain([(each.sft, each.others[name]) for each in seeds])
    return {f"{recipe}_{name}": value for name, value in figures.items()}


def find_constant(scores: SeedScores) -> float:
    """Return the score of the best constant answer that any policy of a seed gave, or its task knows."""
    return max(each.constant for each in (scores.untrained, scores.sft, scores.trained, scores.ablated))


def count_gain(scores: SeedScores) -> float:
    """Return a seed's gain over SFT, over the best constant answer and over its own answers to other items."""
    return mean_of(scores.trained) - max(mean_of(scores.sft), find_constant(scores), scores.trained.shuffled)


def summarise_parts(seeds: Sequence[SeedScores]) -> dict[str, float]:
    """Return each part of the evaluator after SFT and trained, and the mean gain of the part that gains least."""
    names = seeds[0].trained.parts
    before, after = (
        {name: fmean(each.parts[name] for each in some) for name in names}
        for some in zip(*((s.sft, s.trained) for s in seeds), strict=True)
    )
    told = {
        f"{name}_{when}": value for when, parts in (("baseline", before), ("trained", after)) for name, value in parts.items()
    }
    return told | ({"least_part_gain": min(after[name] - before[name] for name in names)} if names else {})


def find_probe_gain(pairs: Sequence[tuple[PolicyScores, PolicyScores]]) -> float:
    """Return the largest mean rise of a probe, from the first policy of each pair to the second."""
    rises = [fmean(after.probes[name] - before.probes[name] for before, after in pairs) for name in pairs[0][1].probes]
    return max(rises, default=0.0)


def read_base(path: str) -> Path:
    """Return the folder of a base, as an argument of the command line."""
    folder = Path(path).resolve()
    if not (folder / "config.json").exists():
        raise argparse.ArgumentTypeError(f"{folder} has no config.json: name a folder in the form of Hugging Face")
    return folder


def main() -> None:
    """Run the tasks where there is torch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", choices=[*TASKS], help="only this one")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--base", type=read_base, help="a folder in the form of Hugging Face: pretrained weights, tokenizer")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default=TINY.dtype, help="the type that policies compute in")
    parser.add_argument("--device", choices=["auto", "cpu"], default=TINY.device, help="auto: a GPU where there is one")
    parser.add_argument("--keep", type=Path, help="where the trained policies stay, as RECIPE/SEED")
    options = parser.parse_args()
    if importlib.util.find_spec("trl") is None:
        print_skipped("learning", "a policy needs torch and TRL: make setup-train")
        return
    start = Start(options.base, options.dtype, choose_device(options.device))
    figures: dict[str, float] = {}
    for name in [options.recipe] if options.recipe else [*TASKS]:
        task = import_module(f"bench.learning_tasks.{TASKS[name]}").TASK
        figures |= summarise(name, run_task(task, options.seeds, start, options.keep))
    print_result("learning" if start == TINY else "learning_gpu", figures, start.list_machine())


if __name__ == "__main__":
    main()
