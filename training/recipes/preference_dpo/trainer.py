"""DPO (MDR Eq. 14) by TRL's `DPOTrainer`, on pairs that are ids already. Log-probs of the reference are computed once, before.

Nothing is cut: TRL's default of 1,024 tokens is switched off, and pairs that are too long are left out before the run.
"""

from collections.abc import Sequence
from typing import Any

from trl import DPOConfig, DPOTrainer

from training.recipes.preference_dpo.config import DpoConfig
from training.recipes.preference_dpo.data import MaskedPair, to_columns
from training.recipes.run_folder import TrainingFolder
from training.recipes.training_loop import open_trainer, share_arguments


class PairTrainer(DPOTrainer):  # type: ignore[misc]
    """TRL's trainer, which takes the pairs' ids as they are: it would tokenise texts again, across the border of the prompt."""

    def _prepare_dataset(self, dataset: Any, processing_class: Any, args: Any, dataset_name: str) -> Any:
        return dataset


def make_arguments(config: DpoConfig, folder: TrainingFolder) -> DPOConfig:
    """Return the trainer's arguments."""
    weight = config.dpo.sft_weight
    return share_arguments(DPOConfig, config, folder)(
        beta=config.dpo.beta,
        loss_type=["sigmoid", "sft"] if weight else ["sigmoid"],
        loss_weights=[1.0, weight] if weight else None,
        precompute_ref_log_probs=True,
        num_train_epochs=1,
        max_length=None,
        train_sampling_strategy="sequential",
    )


def open_preference(config: DpoConfig, folder: TrainingFolder, pairs: Sequence[MaskedPair]) -> Any:
    """Return the trainer over these pairs, in their order."""
    sides = [(f"pair {n}", pair) for n, pair in enumerate(pairs[: config.run.samples], start=1)]
    shown = {f"{name}, {side}": each for name, p in sides for side, each in (("better", p.chosen), ("worse", p.rejected))}
    rows = [to_columns(pair) for pair in pairs]
    return open_trainer(PairTrainer, make_arguments(config, folder), config, folder, rows, shown)
