"""The examples of the cold start: one for each conversation of a trajectory, with the policy's own words as its labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from app.domain.errors import InvalidInput
from training.recipes.chatml import MaskedIds, mask_conversation
from training.recipes.sft_cold_start.config import ColdStartConfig
from training.recipes.training_data import read_rows
from training.synthesis.training_set.splits import Split
from training.synthesis.trajectories.conversations import TrainedConversation

KIND = "trajectories"


class TrajectoryLine(BaseModel):
    """What is read of a row."""

    id: str
    conversations: tuple[TrainedConversation, ...]


@dataclass(frozen=True, slots=True)
class ColdStartData:
    """The examples of an epoch, and the conversations that were too long."""

    examples: Sequence[MaskedIds]
    too_long: int


def read_examples(config: ColdStartConfig, tokenizer: Any) -> ColdStartData:
    """Read the examples.

    Raises:
        InvalidInput: the sets cannot be used, or no conversation fits.
    """
    rows = read_rows(config.data.sets, [KIND], Split.TRAIN, TrajectoryLine)
    taken = rows[: config.data.most_rows or len(rows)]
    found = [mask_conversation(each.messages, tokenizer) for row in taken for each in row.conversations]
    fitting = [each for each in found if len(each.ids) <= config.data.max_tokens and any(each.trained)]
    if not fitting:
        raise InvalidInput(
            f"none of {len(found)} conversations has trained words and at most {config.data.max_tokens} tokens; raise "
            "[data] max_tokens, or make a set of shorter ones"
        )
    return ColdStartData(fitting, sum(len(each.ids) > config.data.max_tokens for each in found))


def read_validation(config: ColdStartConfig) -> list[TrainedConversation]:
    """Read the conversations on which the stopping rule looks."""
    return [each for row in read_rows(config.data.sets, [KIND], Split.VALIDATION, TrajectoryLine) for each in row.conversations]
