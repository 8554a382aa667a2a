"""The configuration that recipes of reinforcement learning share."""

from dataclasses import replace
from math import ceil
from typing import Literal

from pydantic import Field, model_validator

from app.domain.value import Value
from training.recipes.config import RecipeConfig
from training.rollouts.collector_settings import CollectorSettings, Handover
from training.rollouts.objectives import DAPO, DAPO_LEAST_SPREAD, DR_GRPO, GRPO, GSPO, MEAN_ONLY_KL, Objective

OBJECTIVES = {"grpo": GRPO, "dr_grpo": DR_GRPO, "mean_only_kl": MEAN_ONLY_KL, "dapo": DAPO, "gspo": GSPO}


class RolloutsSection(Value):
    """How rollouts are sampled.

    A generation has `tasks_a_step` groups of `group_size` rollouts. `most_tokens` caps an answer, `context` a conversation: the
    trained length. With `most_versions_old` 0 the policy that is trained samples; above, a copy of it does, meanwhile.
    `updates` is the number of optimizer steps that a generation is split into, and `passes` how often it is gone through: beyond
    the first update, the policy is another than the one that sampled.
    `engine` is `transformers`, in this process, over `rows` prompts at a time (1: the same bits whatever stands beside a
    prompt), or `vllm`, at `url`, started with `--enable-lora` and VLLM_ALLOW_RUNTIME_LORA_UPDATING: adapters only.
    """

    group_size: int = Field(default=8, ge=2)
    tasks_a_step: int = Field(ge=1)
    temperature: float = Field(default=1.0, gt=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    most_tokens: int = Field(ge=1)
    context: int = Field(ge=2)
    most_versions_old: int = Field(default=0, ge=0)
    updates: int = Field(default=1, ge=1)
    passes: int = Field(default=1, ge=1)
    engine: Literal["transformers", "vllm"] = "transformers"
    rows: int = Field(default=16, ge=1)
    url: str = "http://127.0.0.1:8000/v1"

    @property
    def rollouts_a_step(self) -> int:
        """The rollouts of a generation."""
        return self.group_size * self.tasks_a_step


class ObjectiveSection(Value):
    """An objective by name, and what is changed of it; None leaves the published value (`training/rollouts/objectives.py`)."""

    name: Literal["grpo", "dr_grpo", "mean_only_kl", "dapo", "gspo"] = "grpo"
    clip_low: float | None = None
    clip_high: float | None = None
    kl_weight: float | None = None
    length: int | None = None
    step_weight: float | None = None
    drop_capped: bool | None = None

    @property
    def objective(self) -> Objective:
        """The objective. Its filter of groups, if it has one, is the collector's."""
        said = {name: value for name, value in self if name != "name" and value is not None}
        return replace(OBJECTIVES[self.name], **said)

    @model_validator(mode="after")
    def _check_values(self) -> "ObjectiveSection":
        assert self.objective
        return self


class CorrectionSection(Value):
    """The bounds of the importance ratio of the trainer's policy to the sampler's."""

    level: Literal["token", "sequence"] = "token"
    lowest: float = Field(default=0.0, ge=0, le=1)
    highest: float = Field(default=2.0, ge=1)


class FilterSection(Value):
    """Which groups are sampled again. The collector alone decides; see `CollectorSettings`.

    Without `least_spread` DAPO's own holds, and other objectives have none; 0 keeps all groups.
    """

    least_spread: float | None = Field(default=None, ge=0)
    most_missing: float = Field(default=0.25, ge=0, le=1)
    most_tries: int = Field(default=4, ge=1)
    most_given_up: int = Field(default=16, ge=1)


class ValidationSection(Value):
    """Every how many steps the policy is validated. The run delivers the one that was best.

    A validation that lacks more than `filter.most_missing` of its rewards is logged, but not compared with others.
    """

    eval_every: int = Field(default=10, ge=1)
    tasks: int = Field(default=64, ge=1)
    temperature: float = Field(default=0.0, ge=0)


class ReinforcementConfig(RecipeConfig):
    """A recipe of reinforcement learning. `optimizer.accumulation` follows from rollouts and batch size, and is not set.

    `by_group`: rollouts are sampled while the trainer steps, and a generation makes one step. Then the trainer takes groups as
    they come, and `optimizer.batch_size` is only how many rows the model reads at once.
    """

    rollouts: RolloutsSection
    objective: ObjectiveSection = ObjectiveSection()
    correction: CorrectionSection = CorrectionSection()
    filter: FilterSection = FilterSection()
    validation: ValidationSection = ValidationSection()

    @model_validator(mode="after")
    def _fit_batches(self) -> "ReinforcementConfig":
        r = self.rollouts
        if self.optimizer.accumulation != 1:
            raise ValueError("leave optimizer.accumulation out: it follows from rollouts and optimizer.batch_size")
        if r.rollouts_a_step % (self.batch_rollouts * r.updates):
            raise ValueError("rollouts.group_size x tasks_a_step must be a multiple of optimizer.batch_size x rollouts.updates")
        if self.adapter is not None and self.adapter.dropout > 0:
            raise ValueError(
                "leave adapter.dropout at 0: rollouts are sampled without it, and two policies would differ by their masks"
            )
        if r.engine == "vllm" and self.adapter is None:
            raise ValueError("the vllm engine is given adapters: add an [adapter] section")
        if r.engine == "vllm" and r.top_p < 1:
            raise ValueError(
                "vLLM gives log-probabilities after top-p, the trainer's are before it: with vllm leave rollouts.top_p at 1"
            )
        if r.most_tokens >= r.context:
            raise ValueError("rollouts.context holds a prompt and its answer: it is more than rollouts.most_tokens")
        return self

    @property
    def weight_copies(self) -> tuple[str, ...]:
        """The copy that samples while another is trained, and the reference of KL; the reference of an adapter is its base."""
        samples = self.rollouts.engine == "transformers" and self.rollouts.most_versions_old > 0
        compares = self.adapter is None and self.objective.objective.kl_weight > 0
        return ("sampled copy",) * samples + ("reference",) * compares

    @property
    def by_group(self) -> bool:
        """Whether the trainer takes groups as they come, and not a whole generation."""
        return self.rollouts.most_versions_old > 0 and self.rollouts.updates == self.rollouts.passes == 1

    @property
    def batch_rollouts(self) -> int:
        """The rollouts of one of the trainer's batches."""
        return self.rollouts.group_size if self.by_group else self.optimizer.batch_size

    @property
    def accumulation(self) -> int:
        """The batches of an optimizer step."""
        return self.rollouts.rollouts_a_step // (self.batch_rollouts * self.rollouts.updates)

    def count_steps(self, tasks: int) -> int:
        """Return the optimizer steps of all epochs over so many tasks."""
        generations = ceil(tasks * self.optimizer.epochs / self.rollouts.tasks_a_step)
        return generations * self.rollouts.updates * self.rollouts.passes

    @property
    def collector(self) -> CollectorSettings:
        """The collector's settings. Tasks keep their order, so that a run can be repeated."""
        own = DAPO_LEAST_SPREAD if self.objective.name == "dapo" else None
        return CollectorSettings(
            group_size=self.rollouts.group_size,
            groups_a_step=self.rollouts.tasks_a_step,
            most_versions_old=self.rollouts.most_versions_old,
            most_missing_share=self.filter.most_missing,
            least_spread=own if self.filter.least_spread is None else self.filter.least_spread or None,
            most_tries=self.filter.most_tries,
            most_given_up=self.filter.most_given_up,
            handover=Handover.AS_COMPLETED if self.rollouts.most_versions_old else Handover.IN_TASK_ORDER,
            seed=self.run.seed,
        )
