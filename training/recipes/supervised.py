"""Supervised fine-tuning on ready-made ids and labels (MDR Eq. 1, 15), by TRL's `SFTTrainer`.

The loss is the mean of -log p over the trained tokens of a step's examples; nothing else has a gradient. No example is cut: a row
that is too long is refused before the run. All epochs are laid out as one sequence, in the order in which it is trained.
"""

from collections.abc import Sequence
from typing import Any

from trl import SFTConfig, SFTTrainer

from training.recipes.chatml import MaskedIds
from training.recipes.config import RecipeConfig
from training.recipes.run_folder import TrainingFolder
from training.recipes.training_loop import open_trainer, share_arguments


def open_supervised(config: RecipeConfig, folder: TrainingFolder, examples: Sequence[MaskedIds]) -> Any:
    """Return the trainer over these examples, in their order."""
    arguments = share_arguments(SFTConfig, config, folder)(
        num_train_epochs=1,
        max_length=None,
        packing=False,
        train_sampling_strategy="sequential",
        dataset_kwargs={"skip_prepare_dataset": True},
    )
    rows = [{"input_ids": list(each.ids), "labels": each.labels} for each in examples]
    shown = {f"example {number}": each for number, each in enumerate(examples[: config.run.samples], start=1)}
    return open_trainer(SFTTrainer, arguments, config, folder, rows, shown)
