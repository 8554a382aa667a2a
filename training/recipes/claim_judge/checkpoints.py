"""The checkpoints of the judge's head: weights, optimizer, the draws of torch. The draws of batches follow from the seed."""

import json
import shutil

import torch

from training.folders import PART
from training.recipes.claim_judge.head import JudgeHead
from training.recipes.config import RunSection
from training.recipes.run_folder import CHECKPOINTS, STATE, TrainingFolder

FIT = "fit.pt"


class HeadCheckpoints:
    """Logs the steps of a fit in a run's folder, and keeps its last checkpoints there."""

    def __init__(self, folder: TrainingFolder, section: RunSection) -> None:
        self._folder, self._section = folder, section

    def restore(self, head: JudgeHead, optimizer: torch.optim.Optimizer) -> int:
        """Restore the last checkpoint; return its step, or 0."""
        if (place := self._folder.checkpoint) is None:
            return 0
        kept = torch.load(place / FIT, weights_only=True)
        head.load_state_dict(kept["head"])
        optimizer.load_state_dict(kept["optimizer"])
        torch.set_rng_state(kept["draws"])
        return self._folder.checkpoint_step

    def keep(self, step: int, loss: float, head: JudgeHead, optimizer: torch.optim.Optimizer) -> None:
        """Log a step, and save a checkpoint, where it is time."""
        if step % self._section.log_every == 0:
            self._folder.keep_metrics(step, {"loss": loss})
        if step % self._section.save_every == 0:
            self._save(step, head, optimizer)

    def _save(self, step: int, head: JudgeHead, optimizer: torch.optim.Optimizer) -> None:
        """Save a checkpoint, which appears as a whole, then drop the oldest."""
        place = self._folder.path / CHECKPOINTS / f"checkpoint-{step}"
        part = self._folder.path / (place.name + PART)
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        kept = {"head": head.state_dict(), "optimizer": optimizer.state_dict(), "draws": torch.get_rng_state()}
        torch.save(kept, part / FIT)
        (part / STATE).write_text(json.dumps({"global_step": step}))
        place.parent.mkdir(exist_ok=True)
        part.rename(place)
        for old in self._folder.list_checkpoints()[: -self._section.keep]:
            shutil.rmtree(old)
