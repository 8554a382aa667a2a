"""The examples of the cold start: one for each conversation of a trajectory, with the policy's own words as its labels."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from app.domain.split import Split
from training.recipes.chatml import MaskedIds, mask_conversation
from training.recipes.fitting import FittingExamples, keep_fitting
from training.recipes.sft_cold_start.config import ColdStartConfig
from training.recipes.training_data import read_rows, require_tags
from training.synthesis.trajectories.conversations import TrainedConversation


class TrajectoryLine(BaseModel):
    """What is read of a row."""

    id: str
    conversations: tuple[TrainedConversation, ...]


FORMS = {"trajectories": TrajectoryLine}


def read_examples(config: ColdStartConfig, tokenizer: Any) -> FittingExamples[MaskedIds]:
    """Read the examples.

    Raises:
        InvalidInput: the sets cannot be used, or no conversation fits.
    """
    rows = read_rows(config.data.sets, FORMS, Split.TRAIN)
    require_tags(config.data.sets)
    taken = rows[: config.data.most_rows or len(rows)]
    found = [mask_conversation(each.messages, tokenizer) for each in _list_conversations(config, taken)]
    return keep_fitting(found, config.data.max_tokens)


def read_validation(config: ColdStartConfig) -> list[TrainedConversation]:
    """Read the conversations on which the stopping rule looks."""
    return _list_conversations(config, read_rows(config.data.sets, FORMS, Split.VALIDATION))


def _list_conversations(config: ColdStartConfig, rows: Sequence[TrajectoryLine]) -> list[TrainedConversation]:
    agents = config.data.agents
    return [each for row in rows for each in row.conversations if not agents or each.agent in agents]
