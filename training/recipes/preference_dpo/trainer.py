"""DPO (MDR Eq. 14) by TRL's `DPOTrainer`, on pairs that are ids already. Log-probs of the reference are computed once, before.

Nothing is cut: TRL's default of 1,024 tokens is switched off, and pairs that are too long are left out before the run.
"""

from collections.abc import Sequence
from typing import Any

from datasets import Dataset
from transformers import PrinterCallback
from trl import DPOConfig, DPOTrainer

from training.recipes.policy import load_model, load_tokenizer, make_adapter, place_base
from training.recipes.preference_dpo.config import DpoConfig
from training.recipes.preference_dpo.data import MaskedPair, to_columns
from training.recipes.progress import ProgressCallback
from training.recipes.run_folder import CHECKPOINTS, TrainingFolder
from training.recipes.showing import show_examples


class PairTrainer(DPOTrainer):  # type: ignore[misc]
    """TRL's trainer, which takes the pairs' ids as they are: it would tokenise texts again, across the border of the prompt."""

    def _prepare_dataset(self, dataset: Any, processing_class: Any, args: Any, dataset_name: str) -> Any:
        return dataset


def open_trainer(config: DpoConfig, folder: TrainingFolder, pairs: Sequence[MaskedPair]) -> Any:
    """Return the trainer over these pairs, in their order."""
    base = place_base(config, folder)
    tokenizer = load_tokenizer(config.model, base)
    show_examples(folder, [each for p in pairs[: config.run.samples] for each in (p.chosen, p.rejected)], tokenizer)
    trainer = PairTrainer(
        model=load_model(config.model, base),
        args=make_arguments(config, folder),
        train_dataset=Dataset.from_list([to_columns(pair) for pair in pairs]),
        processing_class=tokenizer,
        peft_config=make_adapter(config.adapter),
        callbacks=[ProgressCallback(folder, config.cost)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def make_arguments(config: DpoConfig, folder: TrainingFolder) -> DPOConfig:
    """Return the trainer's arguments."""
    chosen, run, loss = config.optimizer, config.run, config.dpo
    return DPOConfig(
        output_dir=str(folder.path / CHECKPOINTS),
        beta=loss.beta,
        loss_type=["sigmoid", "sft"] if loss.sft_weight else ["sigmoid"],
        loss_weights=[1.0, loss.sft_weight] if loss.sft_weight else None,
        precompute_ref_log_probs=True,
        max_length=None,
        learning_rate=chosen.learning_rate,
        lr_scheduler_type=chosen.schedule,
        warmup_steps=chosen.warmup_ratio,
        weight_decay=chosen.weight_decay,
        max_grad_norm=chosen.max_grad_norm,
        per_device_train_batch_size=chosen.batch_size,
        gradient_accumulation_steps=chosen.accumulation,
        gradient_checkpointing=chosen.gradient_checkpointing,
        num_train_epochs=1,
        bf16=config.model.dtype == "bfloat16",
        use_cpu=run.device == "cpu",
        seed=run.seed,
        logging_steps=run.log_every,
        save_steps=run.save_every,
        save_total_limit=run.keep,
        report_to="none",
        disable_tqdm=True,
        train_sampling_strategy="sequential",
    )
