"""The examples of Self-SFT: the policy's good outputs with their prompts, of which only the outputs are trained."""

from collections.abc import Sequence
from typing import Any

from app.domain.split import Split
from training.recipes.chatml import MaskedIds
from training.recipes.fitting import FittingExamples, keep_fitting
from training.recipes.own_samples import list_good_outputs, read_samples, show_prompt
from training.recipes.self_sft.config import SelfSftConfig
from training.synthesis.trajectories.conversations import TrainedMessage


def read_examples(config: SelfSftConfig, tokenizer: Any) -> FittingExamples[MaskedIds]:
    """Read the examples.

    Raises:
        InvalidInput: the sets cannot be used, or no output fits.
    """
    rows = read_samples(config.model, config.data, Split.TRAIN)
    return keep_fitting(list_good_outputs(rows, tokenizer, config.data.best_only), config.data.max_tokens)


def read_prompts(config: SelfSftConfig) -> Sequence[Sequence[TrainedMessage]]:
    """Read the prompts for which reports are measured: those of the validation split."""
    return [show_prompt(row.prompt) for row in read_samples(config.model, config.data, Split.VALIDATION)]
