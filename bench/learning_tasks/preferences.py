"""`preference_dpo`: fewer planted faults of tables and of tense, learned from pairs of the policy's own reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.learning_tasks.beginnings import Start
from bench.learning_tasks.own_outputs import CONTEXT, begin, measure, sample_own
from bench.learning_tasks.protocol import SeedScores
from bench.learning_tasks.runs import train_recipe

PRESETS = ({"preset": "tense", "judges": "100"}, {"preset": "tables"})
"""Pairs of tense are chosen by a judge of both tenses, as in the product; those of tables by rules."""
SFT_WEIGHT = 1.0


@dataclass(frozen=True, slots=True)
class PreferenceTask:
    """The task. Sets and training are the recipe's own, through the functions behind the commands; the ablated one has Eq. 14
    alone, without the better output's own likelihood in the loss.
    """

    recipe: str = "preference_dpo"

    def run_seed(self, folder: Path, seed: int, start: Start) -> SeedScores:
        """Train and measure."""
        began = begin(folder, seed, start)
        sets = [sample_own(folder / each["preset"], began.taught, start, began.asked, seed, each) for each in PRESETS]
        trained = train_pairs(folder / "trained", began.taught, start, sets, seed, SFT_WEIGHT)
        ablated = train_pairs(folder / "ablated", began.taught, start, sets, seed, 0.0)
        scored = measure(folder, (began.base, began.taught, trained, ablated), start, began.held_out, seed)
        return SeedScores(scored[0], scored[1], scored[2], scored[3])


def train_pairs(folder: Path, policy: Path, start: Start, sets: Sequence[Path], seed: int, sft_weight: float) -> Path:
    """Train on the pairs of sets; return the folder of the model."""
    return train_recipe(
        folder,
        "preference_dpo",
        {
            "model": start.describe_model(policy),
            "data": {"sets": [str(each) for each in sets], "max_tokens": start.scale_tokens(CONTEXT)},
            "dpo": {"beta": 0.1, "sft_weight": sft_weight},
            "optimizer": {"learning_rate": start.scale_rate(3e-4), "schedule": "linear", **start.split_step(16), "epochs": 3},
            "run": {"device": start.device, "seed": seed, "log_every": 20, "save_every": 1_000},
        },
    )


TASK = PreferenceTask()
