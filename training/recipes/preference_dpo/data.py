"""The pairs of DPO as ids: a prompt that holds every observation, and two outputs, which alone are scored."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.split import Split
from training.recipes.chatml import MaskedIds, mask_answer
from training.recipes.fitting import FittingExamples
from training.recipes.own_samples import OwnPair, read_pairs
from training.recipes.preference_dpo.config import DpoConfig
from training.synthesis.trajectories.conversations import TrainedMessage


@dataclass(frozen=True, slots=True)
class MaskedPair:
    """The better and the worse output, each after the same prompt."""

    chosen: MaskedIds
    rejected: MaskedIds

    @property
    def longest(self) -> int:
        """The tokens of the longer one."""
        return max(len(self.chosen.ids), len(self.rejected.ids))


def read_examples(config: DpoConfig, tokenizer: Any) -> FittingExamples[MaskedPair]:
    """Read the pairs.

    Raises:
        InvalidInput: the sets cannot be used, or no pair fits.
    """
    found = [_mask(pair, tokenizer) for pair in read_pairs(config.model, config.data, Split.TRAIN)]
    fitting = [pair for pair in found if pair.longest <= config.data.max_tokens]
    if not fitting:
        raise InvalidInput(f"none of {len(found)} pairs has at most {config.data.max_tokens} tokens; raise [data] max_tokens")
    return FittingExamples(fitting, len(found) - len(fitting))


def read_prompts(config: DpoConfig) -> Sequence[Sequence[TrainedMessage]]:
    """Read the prompts for which reports are measured: those of the validation split."""
    return [pair.prompt for pair in read_pairs(config.model, config.data, Split.VALIDATION)]


def _mask(pair: OwnPair, tokenizer: Any) -> MaskedPair:
    return MaskedPair(mask_answer(pair.prompt, pair.chosen, tokenizer), mask_answer(pair.prompt, pair.rejected, tokenizer))


def to_columns(pair: MaskedPair) -> dict[str, list[int]]:
    """Return a pair as the trainer reads it. What follows the end of an output is in neither."""
    start = pair.chosen.trained.index(True)
    return {
        "prompt_ids": list(pair.chosen.ids[:start]),
        "chosen_ids": [each for each, trained in zip(pair.chosen.ids, pair.chosen.trained, strict=True) if trained],
        "rejected_ids": [each for each, trained in zip(pair.rejected.ids, pair.rejected.trained, strict=True) if trained],
    }
