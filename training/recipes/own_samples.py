"""The policy's own outputs, from sets of self-samples (MDR 5.4: both methods learn from nothing else).

The prompt holds everything that the policy was told; only the output is scored. A row that another model wrote is left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from app.domain.chat import Message
from app.domain.errors import InvalidInput
from app.domain.value import Value
from training.recipes.chatml import MaskedIds, mask_answer
from training.recipes.config import ConfigPath
from training.recipes.training_data import read_rows
from training.synthesis.self_samples.rows import Side
from training.synthesis.training_set.splits import Split
from training.synthesis.trajectories.conversations import TrainedMessage


class OwnDataSection(Value):
    """Sets of outputs. `policy` names the model that learns, as the sets name it; empty: the only one that they name.

    Outputs that are longer than `max_tokens` with their prompts are left out, and counted.
    """

    sets: tuple[ConfigPath, ...] = Field(min_length=1)
    policy: str = ""
    max_tokens: int = Field(ge=2)


class OwnOutput(BaseModel):
    """An output, and whether it is good."""

    output: str
    side: Side


class SampleLine(BaseModel):
    """What is read of a row of self-samples."""

    prompt: tuple[Message, ...]
    policy: str
    samples: tuple[OwnOutput, ...]
    chosen: str = ""
    rejected: str = ""

    @property
    def policies(self) -> set[str]:
        """The models that wrote the outputs."""
        return {self.policy}


@dataclass(frozen=True, slots=True)
class OwnPair:
    """Two outputs for a prompt, the better one first."""

    prompt: tuple[TrainedMessage, ...]
    chosen: str
    rejected: str


def read_samples(section: OwnDataSection, split: Split) -> list[SampleLine]:
    """Read the policy's own rows of self-samples.

    Raises:
        InvalidInput: the sets cannot be used.
    """
    return _keep_own(section, read_rows(section.sets, {"self-samples": SampleLine}, split))


def read_pairs(section: OwnDataSection, split: Split) -> list[OwnPair]:
    """Read the policy's own pairs.

    Raises:
        InvalidInput: the sets cannot be used, or hold no pair of the policy's own.
    """
    rows = read_samples(section, split)
    pairs = [OwnPair(show_prompt(row.prompt), row.chosen, row.rejected) for row in rows if row.chosen]
    if not pairs and split is Split.TRAIN:
        raise InvalidInput(
            "no row has a better and a worse output: make self-samples with more --option samples=N or a smaller margin"
        )
    return pairs


def list_good_outputs(rows: Iterable[SampleLine], tokenizer: Any, best_only: bool) -> list[MaskedIds]:
    """Return the good outputs with their prompts, the best one first; with `best_only` no other of the same prompt."""
    good = [(row, [each.output for each in row.samples if each.side is Side.HIGH]) for row in rows]
    return [
        mask_answer(show_prompt(row.prompt), output, tokenizer)
        for row, outputs in good
        for output in (outputs[:1] if best_only else outputs)
    ]


def show_prompt(messages: Sequence[Message]) -> tuple[TrainedMessage, ...]:
    """Return a prompt's messages, none of them trained."""
    return tuple(TrainedMessage(role=each.role, content=each.content) for each in messages)


def _keep_own(section: OwnDataSection, rows: Sequence[Any]) -> list[Any]:
    """Return the rows that the policy wrote alone."""
    policies = {name for row in rows for name in row.policies}
    if not section.policy and len(policies) > 1:
        raise InvalidInput(
            f"the sets hold outputs of {', '.join(sorted(policies))}; this recipe learns from the policy's own: name it under "
            "[data] policy"
        )
    own = {section.policy} if section.policy else policies
    kept = [row for row in rows if row.policies == own]
    if rows and not kept:
        raise InvalidInput(f"no row is by {section.policy!r} alone; the sets hold outputs of {', '.join(sorted(policies))}")
    return kept
