"""The configuration of Search-RL."""

from itertools import pairwise
from typing import Literal

from pydantic import Field, model_validator

from app.domain.value import Value
from training.recipes.chain_section import ChainSection
from training.recipes.config import ConfigPath
from training.recipes.judge_section import JudgeSection
from training.recipes.reinforcement.config import ReinforcementConfig
from training.recipes.rollout_tools import ToolsSection
from training.recipes.search_rl.schedule import RewardPart, SchedulePhase
from training.rewards.composites import SearchWeights


class DataSection(Value):
    """Sets of `graph-queries`."""

    sets: tuple[ConfigPath, ...] = Field(min_length=1)


class WeightsSection(Value):
    """Weights of MindDR Eq. 9. The outcome has what they leave, from 0 to .5."""

    tool: float
    format: float
    process: float

    @property
    def weights(self) -> SearchWeights:
        """The weights."""
        return SearchWeights(self.tool, self.format, self.process)

    @model_validator(mode="after")
    def _check_sum(self) -> "WeightsSection":
        assert self.weights
        return self


class PhaseSection(WeightsSection):
    """A phase: its weights, from when the rate of a part reaches a value on (`when = "tool"`: calls that succeed, `"format"`:
    steps in form, `"process"`: entities met)."""

    when: Literal["tool", "format", "process"]
    reaches: float = Field(gt=0, le=1)


class ScheduleSection(Value):
    """The weights at first, and the phases in their order. A rate is averaged over `window` logged steps."""

    start: WeightsSection = WeightsSection(tool=0.6, format=0.3, process=0.1)
    phases: tuple[PhaseSection, ...] = ()
    window: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _change_at_each_phase(self) -> "ScheduleSection":
        weights = [self.start.weights, *(phase.weights for phase in self.phases)]
        if any(one == other for one, other in pairwise(weights)):
            raise ValueError("each phase has other weights than the one before")
        return self

    def list_phases(self) -> list[SchedulePhase]:
        """Return the phases."""
        return [SchedulePhase(RewardPart(phase.when), phase.reaches, phase.weights) for phase in self.phases]

    @property
    def last(self) -> SearchWeights:
        """The weights of the last phase, by which policies are compared."""
        return self.phases[-1].weights if self.phases else self.start.weights


class DifficultySection(Value):
    """The bounds of the accuracy that is aimed at, and the least share of a level. With `adapt` false shares stay as they are."""

    adapt: bool = True
    low: float = Field(default=0.1, ge=0, le=1)
    high: float = Field(default=0.5, ge=0, le=1)
    least: float = Field(default=0.05, ge=0, lt=0.34)


class SearchRLConfig(ReinforcementConfig):
    """Search-RL. Without `judges` an answer is right when it is short and names the known one: for trials.

    `published` counts repeated calls as successes and names in thoughts as met, as the paper's formulas alone say.
    """

    data: DataSection
    tools: ToolsSection
    chain: ChainSection
    judges: tuple[JudgeSection, ...] = ()
    schedule: ScheduleSection = ScheduleSection()
    difficulty: DifficultySection = DifficultySection()
    published: bool = False
