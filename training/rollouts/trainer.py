"""Our trainer: TRL's loop over batches that are made of all rows of all rollouts."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from training.rollouts.advantages import list_present, measure_spread
from training.rollouts.batches import Batch, make_batch, split_rows
from training.rollouts.corrections import Correction, correct_sampler, join_descriptions
from training.rollouts.group_step import GroupStep, divide_gradients
from training.rollouts.groups import GroupSource, ScoredGroup, TasksOver, score_group
from training.rollouts.losses import compute_policy_loss, count_clipped
from training.rollouts.objectives import Objective
from training.rollouts.policy_logprobs import compute_logprobs
from training.rollouts.reference import copy_reference
from training.rollouts.staleness import Staleness
from training.rollouts.token_means import TokenMeans
from training.rollouts.trainer_config import check_by_group, check_config, make_placeholders
from training.rollouts.trainer_state import TrainerState, load_state, save_state
from training.rollouts.weighted_rows import Totals, WeightedRow, weigh_rows


class RolloutTrainer(GRPOTrainer):  # type: ignore[misc]
    """Trains a policy on groups of rollouts, each of which may have any number of rows.

    TRL gives the loop, checkpoints, PEFT, a head that never holds all logits and, where a generation is used for several
    optimizer steps, the buffer and the shuffle of its rows. Groups, rewards, advantages, importance correction, loss and
    reference are ours. `part_weights` may be set between steps; it weighs `Reward.parts`, and without it `Reward.value` counts.

    With `by_group`, for generations that make one optimizer step, each group is taken when the one before is read, and its
    gradient is added to theirs, so that others can be sampled meanwhile. The sum is divided by the totals of the step when the
    last group is in: the gradient is that of the whole batch. DeepSpeed keeps gradients to itself, and gets whole batches.
    """

    def __init__(
        self,
        model: Any,
        source: GroupSource,
        objective: Objective,
        config: GRPOConfig,
        tokenizer: PreTrainedTokenizerBase,
        correction: Correction | None = None,
        by_group: bool = False,
        rows_at_once: int | None = None,
        part_weights: Mapping[str, float] | None = None,
        peft_config: Any = None,
        callbacks: Sequence[TrainerCallback] = (),
        optimizers: tuple[Any, Any] = (None, None),
    ) -> None:
        """Take the policy as it is now for the reference, if the objective has KL.

        `config.generation_batch_size` over `config.num_generations` is the number of groups of a batch, of all processes.
        `rows_at_once` rows go through the model together; without it, as many as TRL's batches have.

        Raises:
            ValueError: the configuration sets what the objective sets, has no `max_steps`, or does not fit `by_group`.
        """
        check_config(config)
        if by_group:
            check_by_group(config)
        self.source, self.objective = source, objective
        self.correction = correction or Correction()
        self.rows_at_once = rows_at_once or config.per_device_train_batch_size
        self.part_weights = dict(part_weights) if part_weights is not None else None
        self.staleness, self._group_step, self._token_means = Staleness(), GroupStep(), TokenMeans()
        self.reference = copy_reference(model, peft_config, config.temperature) if objective.kl_weight else None
        super().__init__(
            model=model,
            reward_funcs=_refuse_reward,
            args=config,
            train_dataset=make_placeholders(config),
            processing_class=tokenizer,
            peft_config=peft_config,
            callbacks=list(callbacks),
            optimizers=optimizers,
        )
        self.by_group = by_group and not self.is_deepspeed_enabled
        if self.reference is not None:
            self.reference.prepare(self.accelerator)

    def _send_telemetry(self) -> None:
        """Send nothing."""

    def _generate_and_score_completions(self, inputs: Sequence[Mapping[str, Any]]) -> Batch:
        """Return the generation batch: TRL's hook. `inputs` are placeholders, one for each sample of this process."""
        groups = self._take_groups(len(inputs) // self.num_generations)
        rows, totals = weigh_rows(groups, self.objective)
        batch = self._make_batch(rows, self._find_divisor(totals), self.args.steps_per_generation)
        self._log_values(self._add_logprobs(batch))
        self._log_groups(groups, len(rows))
        return batch

    def _prepare_inputs(self, generation_batch: Any) -> Batch:
        """Return the next group of the step or, by TRL, the next part of a generation batch."""
        if not self.by_group:
            part: Batch = super()._prepare_inputs(generation_batch)
            return part
        (scored,) = self._take_groups(1)
        rows, totals = weigh_rows([scored], self.objective)
        batch = self._make_batch(rows, divisor=1.0, parts=1)
        self._group_step.add_group(scored, len(rows), totals, self._add_logprobs(batch))
        return batch

    def training_step(self, model: torch.nn.Module, inputs: Any, num_items_in_batch: Any = None) -> torch.Tensor:
        """Return the loss of one part of a step; of groups, the loss of all with the last of them, and 0 before."""
        loss: torch.Tensor = super().training_step(model, inputs, num_items_in_batch)
        return self._end_group(loss) if self.by_group else loss

    def _end_group(self, loss: torch.Tensor) -> torch.Tensor:
        """Count a group's loss. With the step's last group, divide gradient and loss by the totals, before the clipping."""
        self._group_step.loss += loss.item()
        if not self.accelerator.sync_gradients:
            return torch.zeros_like(loss)
        step, self._group_step = self._group_step, GroupStep()
        divisor = self._find_divisor(step.totals)
        divide_gradients(self.model.parameters(), divisor)
        self._log_values(join_descriptions(step.corrections))
        self._log_groups(step.groups, step.rows)
        return torch.full_like(loss, step.loss / divisor)

    def _take_groups(self, count: int) -> list[ScoredGroup]:
        version = self.state.global_step
        # Gradient checkpointing takes the cache from `generate` while a model trains.
        self.model.eval()
        try:
            groups = self.source.take_groups(count, version)
        finally:
            self.model.train()
        if not groups:
            raise TasksOver("the source of groups has no task left; max_steps is too high for it")
        self.staleness.count_groups(groups, version)
        return [score_group(group, self.part_weights) for group in groups]

    def _make_batch(self, rows: Sequence[WeightedRow], divisor: float, parts: int) -> Batch:
        """Make the batch of some rows, with so many that fill: as many in each process, and a multiple of the parts."""
        most = int(self.accelerator.gather(torch.tensor([len(rows)], device=self.accelerator.device)).max())
        count = max(1, ceil(most / parts)) * parts
        return make_batch(rows, count, divisor, self._tokenizer.pad_token_id, self._find_dtype(), self.accelerator.device)

    def _find_divisor(self, totals: Totals) -> float:
        """Return what weights are divided by: the rollouts or tokens of all processes, over which gradients are averaged."""
        count = totals.tokens if self.objective.average == "token" else totals.rollouts
        everywhere = self.accelerator.gather(torch.tensor([count], device=self.accelerator.device)).sum().item()
        processes: int = self.accelerator.num_processes
        return float(max(everywhere, 1)) / processes

    def _find_dtype(self) -> torch.dtype:
        exact = next(self.model.parameters()).dtype is torch.float64
        return torch.float64 if exact else torch.float32

    def _add_logprobs(self, batch: Batch) -> dict[str, float]:
        """Add `old_logprobs`, `correction` and, with KL, `reference_logprobs`. Return what is logged of the correction."""
        batch["old_logprobs"] = self._score_rows(batch, self.model)
        if self.reference is not None:
            with self.reference.lend(self.accelerator.unwrap_model(self.model)) as model:
                batch["reference_logprobs"] = self._score_rows(batch, model)
        batch["correction"], described = correct_sampler(
            self.correction, batch["old_logprobs"], batch["sampler_logprobs"], batch["sampled"]
        )
        return described

    def _score_rows(self, batch: Batch, model: torch.nn.Module) -> torch.Tensor:
        scored = torch.zeros_like(batch["sampled"])
        with torch.no_grad(), self.accelerator.autocast():
            size = self.rows_at_once
            for part, target in zip(split_rows(batch, size), scored.split(size), strict=True):
                logprobs = compute_logprobs(model, part, self.temperature)[0]
                target[:, : logprobs.shape[1]] = logprobs
        return scored

    def compute_loss(
        self, model: torch.nn.Module, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """Return the loss of one part of the generation batch. See `losses.compute_policy_loss`.

        A rollout may bring many rows, so the part is read `rows_at_once` rows at a time: the gradients of all
        but the last are already accumulated, and the loss returned has the gradient of the last.
        """
        parts = list(split_rows(inputs, self.rows_at_once))
        before = torch.zeros((), device=self.accelerator.device)
        for part in parts[:-1]:
            loss = self._compute_part_loss(model, part)
            self.accelerator.backward(loss)
            before = before + loss.detach()
        return self._compute_part_loss(model, parts[-1]) + before

    def _compute_part_loss(self, model: torch.nn.Module, part: Batch) -> torch.Tensor:
        with self.accelerator.autocast():
            logprobs, entropies = compute_logprobs(model, part, self.temperature)
        self._log_part(logprobs.detach(), entropies.detach(), part)
        # The weights are those of the whole generation; an optimizer step sees this share of its parts.
        share = self.current_gradient_accumulation_steps / self.args.steps_per_generation
        return compute_policy_loss(self.objective, logprobs, part) / share

    def _log_part(self, logprobs: torch.Tensor, entropies: torch.Tensor, part: Batch) -> None:
        low, high = count_clipped(self.objective, logprobs, part)
        sums = {"entropy": entropies.sum().item(), "clipped/low": low, "clipped/high": high}
        self._token_means.add_part(part["sampled"].sum().item(), sums)

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log, by TRL, the means of what was kept since the last time: of clipping and entropy over tokens, not over parts."""
        self._log_values(self._token_means.take())
        super().log(logs, start_time)

    def _log_groups(self, groups: Sequence[ScoredGroup], rows: int) -> None:
        scores = [list_present(scored.scores) for scored in groups]
        together = [score for group in scores for score in group]
        if together:
            spreads = [measure_spread(group) for group in scores]
            self._log_values({"reward": sum(together) / len(together), "reward_spread": sum(spreads) / len(spreads)})
        self._log_values({"rows": float(rows)})
        for name, value in self.staleness.list_counts():
            self._metrics["train"][name] = [float(value)]

    def _log_values(self, values: Mapping[str, float]) -> None:
        for name, value in values.items():
            self._metrics["train"][name].append(value)

    def _save_rng_state(self, output_dir: str) -> None:
        """Save our state beside the random state: before the file that completes a checkpoint, and before older ones go."""
        super()._save_rng_state(output_dir)
        period = self.args.steps_per_generation * self.num_iterations
        save_state(
            output_dir,
            self.accelerator.process_index,
            TrainerState(
                steps=self._step,
                part_weights=self.part_weights,
                source=self.source.save_state(),
                staleness=self.staleness,
            ),
            self._buffered_inputs if self._step % period else None,
        )

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        """Load our state with the optimizer's, so that the next step is the one that would have come."""
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is None:
            return
        state, self._buffered_inputs = load_state(checkpoint, self.accelerator.process_index, self.accelerator.device)
        self._step, self.part_weights = state.steps, state.part_weights
        self.staleness = state.staleness
        self.source.load_state(state.source)


def _refuse_reward(prompts: Any, completions: Any) -> list[float]:
    """Stand where TRL wants a reward."""
    raise AssertionError("rollouts bring their rewards; TRL asked for one")
