"""Supervised fine-tuning on ready-made ids and labels (MDR Eq. 1, 15), by TRL's `SFTTrainer`.

The loss is the mean of -log p over the trained tokens of a step's examples; nothing else has a gradient. No example is cut: a row
that is too long is refused before the run. All epochs are laid out as one sequence, in the order in which it is trained.
"""

from collections.abc import Sequence
from typing import Any

from datasets import Dataset
from transformers import PrinterCallback
from trl import SFTConfig, SFTTrainer

from training.recipes.chatml import MaskedIds
from training.recipes.config import RecipeConfig
from training.recipes.policy import load_model, load_tokenizer, make_adapter, place_base
from training.recipes.progress import ProgressCallback
from training.recipes.run_folder import CHECKPOINTS, TrainingFolder
from training.recipes.showing import show_examples


def open_supervised(config: RecipeConfig, folder: TrainingFolder, examples: Sequence[MaskedIds]) -> Any:
    """Return the trainer over these examples, in their order."""
    base = place_base(config, folder)
    tokenizer = load_tokenizer(config.model, base)
    show_examples(folder, examples[: config.run.samples], tokenizer)
    trainer = SFTTrainer(
        model=load_model(config.model, base),
        args=make_arguments(config, folder),
        train_dataset=Dataset.from_list([{"input_ids": list(each.ids), "labels": each.labels} for each in examples]),
        processing_class=tokenizer,
        peft_config=make_adapter(config.adapter),
        callbacks=[ProgressCallback(folder, config.cost)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def make_arguments(config: RecipeConfig, folder: TrainingFolder) -> SFTConfig:
    """Return the trainer's arguments."""
    chosen, run = config.optimizer, config.run
    return SFTConfig(
        output_dir=str(folder.path / CHECKPOINTS),
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
        max_length=None,
        packing=False,
        train_sampling_strategy="sequential",
        dataset_kwargs={"skip_prepare_dataset": True},
    )
