"""The configuration of the cold start."""

from math import ceil
from typing import Literal

from pydantic import Field, model_validator

from app.domain.value import Value
from training.recipes.config import ConfigPath, RecipeConfig
from training.recipes.ordering import LengthPhase


class DataSection(Value):
    """Sets of `trajectories`. Longer conversations than `max_tokens` are left out, and counted. `most_rows` 0: all rows.

    With `agents`, only conversations of these agents are learned (`plan/rubric` writes rubrics).
    """

    sets: tuple[ConfigPath, ...] = Field(min_length=1)
    max_tokens: int = Field(ge=2)
    most_rows: int = Field(default=0, ge=0)
    agents: tuple[str, ...] = ()


class PhaseSection(Value):
    """A phase of the length curriculum: the lengths up to `up_to` tokens come from the share `begins` of the run on."""

    up_to: int = Field(ge=1)
    begins: float = Field(default=0.0, ge=0, lt=1)


class StoppingSection(Value):
    """When training ends early (MDR 5.1): format, loss and entropy, looked at every `check_every` steps.

    `contexts` are the lengths, in tokens, at which the form of sampled answers is checked, on `prompts` prompts each, of which a
    prompt of more than half a length and at most a fifth more is one. `limit` says which error rate is low enough
    (`format_limit.py`). Loss is flat where its mean over a window of `window` logged steps is less than `flat` (a share) below
    that of the window before. Entropy is compared with that of the first check from `mid_step` on; before it nothing ends.
    """

    check_every: int = Field(ge=1)
    contexts: tuple[int, ...] = Field(min_length=1)
    prompts: int = Field(default=64, ge=1)
    answer_tokens: int = Field(default=2_048, ge=1)
    temperature: float = Field(default=1.0, gt=0)
    limit: Literal["two_of_two", "two_of_eight"] = "two_of_two"
    window: int = Field(default=20, ge=1)
    flat: float = Field(default=0.01, gt=0)
    mid_step: int = Field(ge=0)
    entropy_kept: float = Field(default=0.9, gt=0, le=1)

    @property
    def first_end(self) -> int:
        """The first check at which training may end, where each step logs its loss."""
        return ceil(max(self.mid_step, 2 * self.window, 1) / self.check_every) * self.check_every


class ColdStartConfig(RecipeConfig):
    """The cold start: data, curriculum and, where it may end early, the stopping rule."""

    data: DataSection
    curriculum: tuple[PhaseSection, ...] = ()
    stopping: StoppingSection | None = None

    @model_validator(mode="after")
    def _reach_all_lengths(self) -> "ColdStartConfig":
        if self.curriculum and max(phase.up_to for phase in self.curriculum) < self.data.max_tokens:
            raise ValueError("the last phase of the curriculum must reach data.max_tokens")
        return self

    @property
    def phases(self) -> list[LengthPhase]:
        """The phases of the curriculum."""
        return [LengthPhase(phase.up_to, phase.begins) for phase in self.curriculum]
