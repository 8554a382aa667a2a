"""What all recipes on TRL's trainers do alike: the trainer's arguments, training from the last checkpoint, leaving the model."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import torch
from datasets import Dataset
from transformers import PrinterCallback, TrainerCallback

from training.recipes.chatml import MaskedIds
from training.recipes.config import RecipeConfig
from training.recipes.policy import load_model, load_tokenizer, make_adapter, place_base, save_trained
from training.recipes.progress import ProgressCallback
from training.recipes.report_page import write_report
from training.recipes.run_folder import CHECKPOINTS, TrainingFolder
from training.recipes.showing import show_examples
from training.recipes.stop_signals import StopRequest, TrainingStopped, watch_signals

A = TypeVar("A")


def share_arguments(form: Callable[..., A], config: RecipeConfig, folder: TrainingFolder) -> Callable[..., A]:
    """Return the form of a trainer's arguments with those set that all recipes share; call it with the recipe's own."""
    chosen, run = config.optimizer, config.run
    return partial(
        form,
        output_dir=str(folder.path / CHECKPOINTS),
        learning_rate=chosen.learning_rate,
        lr_scheduler_type=chosen.schedule,
        warmup_steps=chosen.warmup_ratio,
        weight_decay=chosen.weight_decay,
        max_grad_norm=chosen.max_grad_norm,
        per_device_train_batch_size=chosen.batch_size,
        gradient_accumulation_steps=chosen.accumulation,
        gradient_checkpointing=chosen.gradient_checkpointing,
        bf16=config.model.dtype == "bfloat16",
        # Where there is no accelerator, "auto" alone makes transformers refuse bfloat16.
        use_cpu=run.device == "cpu" or not torch.accelerator.is_available(),
        seed=run.seed,
        logging_steps=run.log_every,
        save_steps=run.save_every,
        save_total_limit=run.keep,
        report_to="none",
        disable_tqdm=True,
    )


def open_trainer(
    form: Callable[..., Any],
    arguments: Any,
    config: RecipeConfig,
    folder: TrainingFolder,
    rows: Sequence[Mapping[str, Any]],
    shown: Mapping[str, MaskedIds],
) -> Any:
    """Return a trainer of TRL over these rows, in their order. The `shown` examples go on the run's page, by their titles."""
    base = place_base(config, folder)
    tokenizer = load_tokenizer(config.model, base)
    show_examples(folder, shown, tokenizer)
    trainer = form(
        model=load_model(config.model, base, config.weights_dtype),
        args=arguments,
        train_dataset=Dataset.from_list(list(rows)),
        processing_class=tokenizer,
        peft_config=make_adapter(config.adapter),
        callbacks=[ProgressCallback(folder, config.cost)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


class StopCallback(TrainerCallback):  # type: ignore[misc]
    """Saves a checkpoint and ends training after the step in which a signal came."""

    def __init__(self, request: StopRequest) -> None:
        self._request = request

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """End where a signal came."""
        if self._request.received is not None:
            control.should_save = control.should_training_stop = True


def train_on(trainer: Any, folder: TrainingFolder) -> None:
    """Train, from the last checkpoint where there is one.

    Raises:
        TrainingStopped: SIGTERM or Ctrl-C came before the last step. The steps so far are saved.
    """
    with watch_signals() as request:
        trainer.add_callback(StopCallback(request))
        trainer.train(resume_from_checkpoint=str(folder.checkpoint) if folder.checkpoint else None)
    step = trainer.state.global_step
    # A run that ended by itself before its last step has no checkpoint of that step: there is nothing to go on with.
    if request.received is not None and step < trainer.state.max_steps and step == folder.checkpoint_step:
        raise TrainingStopped(step, request.received)


def finish(trainer: Any, config: RecipeConfig, folder: TrainingFolder) -> None:
    """Save what was learned, and write the report."""
    save_trained(trainer, folder)
    if trainer.is_world_process_zero():
        write_report(folder, config.cost)
