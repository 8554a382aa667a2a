"""The configuration of the training of agents."""

from enum import StrEnum

from pydantic import Field, model_validator

from app.domain.query import SystemName
from app.domain.rubric_score import Aggregation
from app.domain.value import Value
from training.recipes.chain_section import ChainSection
from training.recipes.config import ConfigPath
from training.recipes.judge_section import JudgeSection
from training.recipes.reinforcement.config import ReinforcementConfig
from training.recipes.rollout_tools import ToolsSection
from training.rewards.composites import DeepRubricWeights


class RubricSource(StrEnum):
    """Where the rubric of a question comes from.

    Of the set: an evidence `tree` (verified), the same `unrevised`, one over `search` results, a `closed_book` one (DRub 4.4).
    `general`: the same demands for each question. Written by the model of `[generator]` (QSR Table 1): a `prompted` one, or a
    rubric generator after `sft` or `rl`.
    """

    TREE = "tree"
    UNREVISED = "unrevised"
    SEARCH = "search"
    CLOSED_BOOK = "closed_book"
    GENERAL = "general"
    PROMPTED = "prompted"
    SFT = "sft"
    RL = "rl"


WRITTEN = frozenset({RubricSource.PROMPTED, RubricSource.SFT, RubricSource.RL})
IN_ONE_CONVERSATION = frozenset({SystemName.DEEPRUBRIC, SystemName.REACT})


class RewardKind(StrEnum):
    """The reward: DeepRubric's sum of four parts (DRub Eq. 4 to 14), or the rubric's score alone (QSR Eq. 2)."""

    DEEPRUBRIC = "deeprubric"
    RUBRIC = "rubric"


class DataSection(Value):
    """Sets of `evidence-trees`; where a model writes the rubrics, or one holds for all, any sets with queries.

    `skip_rows` leaves out the first queries of the training split, from which a cold start learned. `most_rows` 0: all others.
    """

    sets: tuple[ConfigPath, ...] = Field(min_length=1)
    rubrics: RubricSource = RubricSource.TREE
    skip_rows: int = Field(default=0, ge=0)
    most_rows: int = Field(default=0, ge=0)


class RewardSection(Value):
    """The reward, and the weights of DRub Eq. 5. `aggregation` is that of QSR Eq. 2 (ADR 0025).

    `published` takes the paper's formulas where they reward tricks (ADR 0042).
    """

    kind: RewardKind = RewardKind.DEEPRUBRIC
    rubric: float = Field(default=0.5, ge=0)
    format: float = Field(default=0.2, ge=0)
    citation: float = Field(default=0.2, ge=0)
    search: float = Field(default=0.1, ge=0)
    aggregation: Aggregation = Aggregation.BOUNDED
    published: bool = False

    @property
    def weights(self) -> DeepRubricWeights:
        """The weights."""
        return DeepRubricWeights(self.rubric, self.format, self.citation, self.search)


class AgentRLConfig(ReinforcementConfig):
    """The training of an agent: which system, in one conversation or not, and who judges its reports.

    One policy has all roles of a system; every turn of every role is trained under the reward of the report.
    """

    system: SystemName = SystemName.DEEPRUBRIC
    one_conversation: bool = False
    data: DataSection
    reward: RewardSection = RewardSection()
    tools: ToolsSection
    chain: ChainSection
    judge: JudgeSection
    generator: JudgeSection | None = None

    @model_validator(mode="after")
    def _fit_parts(self) -> "AgentRLConfig":
        if (self.data.rubrics in WRITTEN) != (self.generator is not None):
            raise ValueError(f"data.rubrics {', '.join(sorted(WRITTEN))} are written by the model of [generator], others by none")
        if self.one_conversation and self.system is not SystemName.DEEPRUBRIC:
            raise ValueError("one_conversation is a way of the system deeprubric")
        if self.reward.kind is RewardKind.DEEPRUBRIC and self.system not in IN_ONE_CONVERSATION:
            raise ValueError("reward.kind deeprubric reads one conversation: take rubric for minddr and mams")
        return self
