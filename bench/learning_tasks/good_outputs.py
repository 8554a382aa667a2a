"""`self_sft`: fewer planted faults of tables and of tense, learned from the policy's own reports without a fault."""

from dataclasses import dataclass
from pathlib import Path

from bench.learning_tasks.beginnings import Start
from bench.learning_tasks.own_outputs import CONTEXT, begin, measure, sample_own
from bench.learning_tasks.protocol import SeedScores
from bench.learning_tasks.runs import train_recipe

GOOD = {"preset": "reports", "samples": "4", "high": "90"}
RANDOM = {"preset": "reports", "samples": "2", "high": "0", "low": "0"}


@dataclass(frozen=True, slots=True)
class GoodOutputsTask:
    """The task. Sets and training are the recipe's own, through the functions behind the commands; the ablated one calls every
    output good, so that it learns from its own outputs as they come.
    """

    recipe: str = "self_sft"

    def run_seed(self, folder: Path, seed: int, start: Start) -> SeedScores:
        """Train and measure."""
        began = begin(folder, seed, start)
        trained, ablated = (
            train_good(
                folder / name,
                began.taught,
                start,
                sample_own(folder / f"{name}-set", began.taught, start, began.asked, seed, chosen),
                seed,
            )
            for name, chosen in (("trained", GOOD), ("ablated", RANDOM))
        )
        scored = measure(folder, (began.base, began.taught, trained, ablated), start, began.held_out, seed)
        return SeedScores(scored[0], scored[1], scored[2], scored[3])


def train_good(folder: Path, policy: Path, start: Start, own: Path, seed: int) -> Path:
    """Train on the good outputs of a set; return the folder of the model."""
    return train_recipe(
        folder,
        "self_sft",
        {
            "model": start.describe_model(policy),
            "data": {"sets": [str(own)], "max_tokens": start.scale_tokens(CONTEXT)},
            "optimizer": {"learning_rate": start.scale_rate(1e-3), "schedule": "linear", **start.split_step(16), "epochs": 5},
            "run": {"device": start.device, "seed": seed, "log_every": 20, "save_every": 1_000},
        },
    )


TASK = GoodOutputsTask()
