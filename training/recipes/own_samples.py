"""The policy's own outputs, from sets of self-samples (MDR 5.4: both methods learn from nothing else).

The prompt holds everything that the policy was told; only the output is scored. The lineage of the base says whose a sample is:
a set that was sampled from other weights is refused, whatever name their server gave them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from app.domain.chat import Message
from app.domain.errors import InvalidInput
from app.domain.split import Split
from app.domain.value import Value
from training.base_lineage import trace_base
from training.recipes.chatml import MaskedIds, mask_answer
from training.recipes.config import BaseModelSection, ConfigPath
from training.recipes.training_data import read_rows, require_tags
from training.synthesis.self_samples.rows import Side
from training.synthesis.training_set.folder import SetFolder
from training.synthesis.trajectories.conversations import TrainedMessage


class OwnDataSection(Value):
    """Sets of outputs of the base. Outputs that are longer than `max_tokens` with their prompts are left out, and counted."""

    sets: tuple[ConfigPath, ...] = Field(min_length=1)
    max_tokens: int = Field(ge=2)


class OwnOutput(BaseModel):
    """An output, and whether it is good."""

    output: str
    side: Side


class SampleLine(BaseModel):
    """What is read of a row of self-samples."""

    prompt: tuple[Message, ...]
    samples: tuple[OwnOutput, ...]
    chosen: str = ""
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class OwnPair:
    """Two outputs for a prompt, the better one first."""

    prompt: tuple[TrainedMessage, ...]
    chosen: str
    rejected: str


def read_samples(model: BaseModelSection, section: OwnDataSection, split: Split) -> list[SampleLine]:
    """Read rows of self-samples.

    Raises:
        InvalidInput: the sets cannot be used, or one was sampled from other weights than the base.
    """
    rows = read_rows(section.sets, {"self-samples": SampleLine}, split)
    require_tags(section.sets)
    _require_own(model, section.sets)
    return rows


def read_pairs(model: BaseModelSection, section: OwnDataSection, split: Split) -> list[OwnPair]:
    """Read the policy's own pairs.

    Raises:
        InvalidInput: as above, or the sets hold no pair.
    """
    rows = read_samples(model, section, split)
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


def _require_own(model: BaseModelSection, sets: Iterable[Path]) -> None:
    own = trace_base(model.base, model.revision)
    for path in sets:
        if SetFolder(path).read_manifest().origin.base != own:
            raise InvalidInput(
                f"{path} was not sampled from the weights of [model] base, {model.base}, and this recipe learns from the outputs "
                f"of its own base alone: make the set with a server of these weights and --option base={model.base}"
            )
