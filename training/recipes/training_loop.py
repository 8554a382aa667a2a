"""What all recipes on TRL's trainers do alike: train from the last checkpoint, and leave the trained model."""

from typing import Any

from training.recipes.config import RecipeConfig
from training.recipes.policy import save_trained
from training.recipes.report_page import write_report
from training.recipes.run_folder import TrainingFolder


def train_on(trainer: Any, folder: TrainingFolder) -> None:
    """Train, from the last checkpoint where there is one."""
    trainer.train(resume_from_checkpoint=str(folder.checkpoint) if folder.checkpoint else None)


def finish(trainer: Any, config: RecipeConfig, folder: TrainingFolder) -> None:
    """Save what was learned, and write the report."""
    save_trained(trainer, folder)
    if trainer.is_world_process_zero():
        write_report(folder, config.cost)
