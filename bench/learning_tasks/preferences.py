"""`preference_dpo`: fewer planted faults of tables and of tense, learned from pairs of the policy's own reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.learning_tasks.own_outputs import begin, measure, sample_own
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

    def run_seed(self, folder: Path, seed: int) -> SeedScores:
        """Train and measure."""
        began = begin(folder, seed)
        sets = [sample_own(folder / each["preset"], began.taught, began.asked, seed, each) for each in PRESETS]
        trained = train_pairs(folder / "trained", began.taught, sets, seed, SFT_WEIGHT)
        ablated = train_pairs(folder / "ablated", began.taught, sets, seed, 0.0)
        scored = measure(folder, (began.base, began.taught, trained, ablated), began.held_out, seed)
        return SeedScores(scored[0], scored[1], scored[2], scored[3])


def train_pairs(folder: Path, policy: Path, sets: Sequence[Path], seed: int, sft_weight: float) -> Path:
    """Train on the pairs of sets; return the folder of the model."""
    return train_recipe(
        folder,
        "preference_dpo",
        {
            "model": {"base": str(policy)},
            "data": {"sets": [str(each) for each in sets], "max_tokens": 256},
            "dpo": {"beta": 0.1, "sft_weight": sft_weight},
            "optimizer": {"learning_rate": 3e-4, "schedule": "linear", "batch_size": 16, "epochs": 3},
            "run": {"device": "cpu", "seed": seed, "log_every": 20, "save_every": 1_000},
        },
    )


TASK = PreferenceTask()
