"""The policy's own outputs, from sets of self-samples and of preference pairs (MDR 5.4: both methods learn from nothing else).

The prompt holds everything that the policy was told; only the output is scored. A row that another model wrote is left out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from app.domain.chat import ChatRole, Message
from app.domain.errors import InvalidInput
from app.domain.split import Split
from app.domain.value import Value
from training.recipes.chatml import MaskedIds, mask_answer
from training.recipes.config import ConfigPath
from training.recipes.training_data import read_rows
from training.synthesis.self_samples.rows import Side
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


class Lineage(BaseModel):
    """The model that wrote a report."""

    model: str


class PairedText(BaseModel):
    """A report of a pair."""

    text: str
    lineage: Lineage


class PairLine(BaseModel):
    """What is read of a row of preference pairs. Without a `prompt`, the question alone stands for it."""

    query: str
    prompt: tuple[Message, ...] = ()
    accepted: PairedText
    rejected: PairedText

    @property
    def policies(self) -> set[str]:
        """The models that wrote the reports."""
        return {self.accepted.lineage.model, self.rejected.lineage.model}


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
    forms: dict[str, type[SampleLine] | type[PairLine]] = {"self-samples": SampleLine, "preference-pairs": PairLine}
    pairs = [pair for row in _keep_own(section, read_rows(section.sets, forms, split)) if (pair := _make_pair(row))]
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


def _make_pair(row: SampleLine | PairLine) -> OwnPair | None:
    if isinstance(row, PairLine):
        asked = row.prompt or (Message(role=ChatRole.USER, content=row.query),)
        return OwnPair(show_prompt(asked), row.accepted.text, row.rejected.text)
    return OwnPair(show_prompt(row.prompt), row.chosen, row.rejected) if row.chosen else None


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
