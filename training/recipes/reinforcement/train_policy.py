"""Training a policy on rollouts: what a recipe gives, and the run that is made of it.

The collector owns the filter of groups: the trainer takes what it is handed, whatever its spread and its missing rewards.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from transformers import PrinterCallback, TrainerCallback
from trl import GRPOConfig

from training.recipes.policy import load_model, load_tokenizer, make_adapter, place_base
from training.recipes.progress import ProgressCallback
from training.recipes.reinforcement.best_policy import Validate, ValidationCallback, deliver_best, list_saved
from training.recipes.reinforcement.config import ReinforcementConfig
from training.recipes.reinforcement.policy_source import OpenPolicy, OwnWeights, PolicySource, open_policy
from training.recipes.reinforcement.served_policy import ServedPolicy
from training.recipes.reinforcement.watching import WatchedGroups, WatchingCallback
from training.recipes.report_page import write_report
from training.recipes.run_folder import StepMetrics, TrainingFolder
from training.recipes.training_loop import finish, share_arguments, train_on
from training.rollouts.advantages import read_score
from training.rollouts.chat_template import ChatTemplate
from training.rollouts.collect import Collector
from training.rollouts.collected_groups import CollectedGroups
from training.rollouts.collection_failures import NothingLeftToLearn
from training.rollouts.collector_state import CollectorState
from training.rollouts.corrections import Correction
from training.rollouts.nouns import Reward, Rollout, Task
from training.rollouts.objectives import Level
from training.rollouts.rollout_work import RolloutWork
from training.rollouts.rows import make_rows
from training.rollouts.trainer import RolloutTrainer

M = TypeVar("M")
Weights: TypeAlias = Mapping[str, float]
OpenWork: TypeAlias = Callable[[OpenPolicy], AbstractAsyncContextManager[RolloutWork[M]]]
Schedule: TypeAlias = Callable[[Sequence[StepMetrics], Weights], Weights]
SERVED = "served"


@dataclass(frozen=True, slots=True)
class PolicyTraining(Generic[M]):
    """What a recipe gives.

    `tasks` go on for ever, and begin anew after a restart in the same order (`repeat_tasks`). `open_work` is entered in the
    collector's thread: it opens the recipe's clients and returns how a rollout is sampled and judged. `validate` measures the
    policy on other tasks, under `best_policy.BY` and other names; without it the last policy is delivered.
    `part_weights` weigh the parts of rewards; without them `Reward.value` counts. `schedule` returns the weights of the next step
    from everything that was logged and the weights so far; both are in each checkpoint, and it keeps nothing else.
    """

    tasks: Iterable[Task[M]]
    steps: int
    open_work: OpenWork[M]
    validate: Validate | None = None
    part_weights: Weights | None = None
    schedule: Schedule | None = None


def train_policy(config: ReinforcementConfig, folder: TrainingFolder, training: PolicyTraining[M]) -> None:
    """Train from the last checkpoint, if there is one, and leave the best policy in the folder; the last, if none was compared.

    Where after some steps the rewards no longer differ, training ends there, and `folder.ending` says so.

    Raises:
        CollectionFailed: too many tasks gave no group that can be trained on.
        ModelUnavailable: vLLM is not there.
        TrainingStopped: a signal came; see `train_on`.
    """
    run = PolicyRun(config, folder, training)
    try:
        with run.source:
            train_on(run.trainer, folder)
    except NothingLeftToLearn as saturated:
        run.end_early(saturated)
    if training.validate is None or not list_saved(folder):
        finish(run.trainer, config, folder)
    elif run.trainer.is_world_process_zero():
        deliver_best(folder)
        write_report(folder, config.cost)


class PolicyRun(Generic[M]):
    """The parts of a run, put together: weights, collector, source of groups, trainer."""

    def __init__(self, config: ReinforcementConfig, folder: TrainingFolder, training: PolicyTraining[M]) -> None:
        self._config, self._training = config, training
        base = place_base(config, folder)
        self._tokenizer = load_tokenizer(config.model, base)
        self._template = ChatTemplate(self._tokenizer)
        self._policy = self._make_policy(folder)
        self.source = CollectedGroups(self._open_collector, lambda each: make_rows(each.trajectory), self._policy.give_weights)
        watched = WatchedGroups(self.source, folder, self._tokenizer, config.run.samples)
        self._folder = folder
        rules = (config.validation.eval_every, self._validate, config.filter.most_missing)
        self._validation = ValidationCallback(folder, *rules) if training.validate else None
        validation = [self._validation] if self._validation else []
        callbacks = [WatchingCallback(watched), ProgressCallback(folder, config.cost), *validation]
        if training.schedule is not None:
            callbacks.append(ScheduleCallback(folder, training.schedule, self))
        self.trainer = RolloutTrainer(
            model=load_model(config.model, base, config.weights_dtype),
            source=watched,
            objective=config.objective.objective,
            config=make_arguments(config, folder, training.steps),
            tokenizer=self._tokenizer,
            correction=Correction(Level(config.correction.level), config.correction.lowest, config.correction.highest),
            by_group=config.by_group,
            rows_at_once=config.optimizer.batch_size,
            part_weights=training.part_weights,
            peft_config=make_adapter(config.adapter),
            callbacks=callbacks,
        )
        self.trainer.remove_callback(PrinterCallback)
        if self._validation is not None:
            self._validation.trainer = self.trainer

    def end_early(self, saturated: NothingLeftToLearn) -> None:
        """End with the policy of the last step. Before the first step, rewards that do not differ are an error.

        Raises:
            NothingLeftToLearn: nothing was learned.
        """
        step = self.trainer.state.global_step
        if not step:
            raise saturated
        if self._validation is not None:
            self._validation.validate_last()
        self._folder.keep_ending(f"nothing left to learn after step {step}: {saturated}")

    def _make_policy(self, folder: TrainingFolder) -> PolicySource:
        section = self._config.rollouts
        if section.engine == "vllm":
            return ServedPolicy(section.url, folder.path / SERVED, self._save_adapter, kept=section.most_versions_old + 2)
        copies, pad_id = section.most_versions_old > 0, self._tokenizer.pad_token_id
        return OwnWeights(self._unwrap, section.rows, pad_id, copies, lambda: self.trainer.accelerator.autocast())

    def _unwrap(self) -> Any:
        return self.trainer.accelerator.unwrap_model(self.trainer.model)

    def _save_adapter(self, place: Path) -> None:
        self._unwrap().save_pretrained(place)

    @asynccontextmanager
    async def _open_collector(self, state: CollectorState) -> AsyncIterator[Collector[M]]:
        section = self._config.rollouts
        async with self._policy.open_engine() as engine:
            policy = open_policy(engine, self._template, section, self._tokenizer.eos_token_id, section.temperature)
            async with self._training.open_work(policy) as work:
                judged = RolloutWork(work.run, self._weigh_parts(work.judge))
                async with Collector(self._training.tasks, judged, self._config.collector, state) as collector:
                    yield collector

    def _weigh_parts(
        self, judge: Callable[[Task[M], Rollout], Awaitable[Reward]]
    ) -> Callable[[Task[M], Rollout], Awaitable[Reward]]:
        """Return a judge whose values are by the weights of now, so that collector and trainer see the same."""

        async def judge_weighted(task: Task[M], rollout: Rollout) -> Reward:
            reward = await judge(task, rollout)
            return replace(reward, value=read_score(reward, self.trainer.part_weights))

        return judge_weighted

    async def _validate(self) -> Mapping[str, float]:
        assert self._training.validate is not None
        section, temperature = self._config.rollouts, self._config.validation.temperature
        async with self._policy.open_validator() as engine:
            return await self._training.validate(
                open_policy(engine, self._template, section, self._tokenizer.eos_token_id, temperature)
            )


class ScheduleCallback(TrainerCallback):  # type: ignore[misc]
    """Sets the weights of the parts after each log. The trainer's checkpoint holds them.

    Weights are logged before the first step and after each: those of the step that follows.
    """

    def __init__(self, folder: TrainingFolder, schedule: Schedule, run: PolicyRun[Any]) -> None:
        self._folder, self._schedule, self._run = folder, schedule, run

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Log the weights that a run begins with."""
        if not state.global_step:
            self._keep_weights(0)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:
        """Set the weights, and log them."""
        trainer = self._run.trainer
        if "train_runtime" in (logs or {}) or trainer.part_weights is None:
            return
        trainer.part_weights = dict(self._schedule(self._folder.read_metrics(), trainer.part_weights))
        self._keep_weights(state.global_step)

    def _keep_weights(self, step: int) -> None:
        weights = self._run.trainer.part_weights or {}
        self._folder.keep_metrics(step, {f"weight/{name}": value for name, value in weights.items()})


def make_arguments(config: ReinforcementConfig, folder: TrainingFolder, steps: int) -> GRPOConfig:
    """Return the trainer's arguments."""
    rollouts = config.rollouts
    return share_arguments(GRPOConfig, config, folder)(
        max_steps=steps,
        per_device_train_batch_size=config.batch_rollouts,
        gradient_accumulation_steps=config.accumulation,
        steps_per_generation=config.accumulation * rollouts.updates,
        num_iterations=rollouts.passes,
        num_generations=rollouts.group_size,
        temperature=rollouts.temperature,
        # The policy before the step, the one in the step and the sampler are compared: a model's own dropout would part them.
        disable_dropout=True,
    )
