"""Our trainer: TRL's loop over batches that are made of all rows of all rollouts."""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import torch
from transformers import PreTrainedTokenizerBase, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from training.rollouts.advantages import list_present, measure_spread
from training.rollouts.batches import Batch, make_batch, split_rows
from training.rollouts.corrections import Correction, correct_sampler
from training.rollouts.groups import GroupCounts, GroupRules, GroupSource, ScoredGroup, take_fit_groups
from training.rollouts.losses import compute_policy_loss, measure_clipping
from training.rollouts.objectives import Objective
from training.rollouts.policy_logprobs import compute_logprobs
from training.rollouts.reference import copy_reference
from training.rollouts.staleness import Staleness
from training.rollouts.trainer_config import check_config, make_placeholders
from training.rollouts.trainer_state import TrainerState, load_state, save_state
from training.rollouts.weighted_rows import Totals, weigh_rows


class RolloutTrainer(GRPOTrainer):  # type: ignore[misc]
    """Trains a policy on groups of rollouts, each of which may have any number of rows.

    TRL gives the loop: a generation batch every `steps_per_generation` x `num_iterations` steps, its buffer and its shuffle,
    checkpoints, PEFT, and a head that never holds all logits. Groups, rewards, advantages, importance correction, loss and
    reference are ours. `part_weights` may be set between steps; it weighs `Reward.parts`, and without it `Reward.value` counts.
    """

    def __init__(
        self,
        model: Any,
        source: GroupSource,
        objective: Objective,
        config: GRPOConfig,
        tokenizer: PreTrainedTokenizerBase,
        correction: Correction | None = None,
        rules: GroupRules | None = None,
        part_weights: Mapping[str, float] | None = None,
        peft_config: Any = None,
        callbacks: Sequence[TrainerCallback] = (),
        optimizers: tuple[Any, Any] = (None, None),
    ) -> None:
        """Take the policy as it is now for the reference, if the objective has KL.

        `config.generation_batch_size` over `config.num_generations` is the number of groups of a batch, of all processes.
        `rules.least_spread` is the objective's.

        Raises:
            ValueError: the configuration sets what the objective sets, or has no `max_steps`.
        """
        check_config(config)
        self.source, self.objective = source, objective
        self.correction = correction or Correction()
        rules = rules or GroupRules()
        self.rules = GroupRules(rules.most_missing, objective.least_spread, rules.rounds)
        self.part_weights = dict(part_weights) if part_weights is not None else None
        self.counts, self.staleness = GroupCounts(), Staleness()
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
        if self.reference is not None:
            self.reference.prepare(self.accelerator)

    def _send_telemetry(self) -> None:
        """Send nothing."""

    def _generate_and_score_completions(self, inputs: Sequence[Mapping[str, Any]]) -> Batch:
        """Return the generation batch: TRL's hook. `inputs` are placeholders, one for each sample of this process."""
        groups = self._take_groups(len(inputs) // self.num_generations)
        rows, totals = weigh_rows(groups, self.objective)
        divisor = self._find_divisor(totals)
        batch = make_batch(
            rows, self._count_rows(len(rows)), divisor, self._tokenizer.pad_token_id, self._find_dtype(), self.accelerator.device
        )
        self._add_logprobs(batch)
        self._log_groups(groups, len(rows))
        return batch

    def _take_groups(self, count: int) -> list[ScoredGroup]:
        version = self.state.global_step
        # Gradient checkpointing takes the cache from `generate` while a model trains.
        self.model.eval()
        try:
            groups = take_fit_groups(self.source, count, version, self.rules, self.part_weights, self.counts)
        finally:
            self.model.train()
        self.staleness.count_groups([scored.group for scored in groups], version)
        return groups

    def _count_rows(self, rows: int) -> int:
        """Return the number of rows with those that fill: the same in each process, and a multiple of the parts."""
        most = int(self.accelerator.gather(torch.tensor([rows], device=self.accelerator.device)).max())
        parts: int = self.args.steps_per_generation
        return max(1, ceil(most / parts)) * parts

    def _find_divisor(self, totals: Totals) -> float:
        """Return what weights are divided by: the rollouts or tokens of all processes, over which gradients are averaged."""
        count = totals.tokens if self.objective.average == "token" else totals.rollouts
        everywhere = self.accelerator.gather(torch.tensor([count], device=self.accelerator.device)).sum().item()
        processes: int = self.accelerator.num_processes
        return float(max(everywhere, 1)) / processes

    def _find_dtype(self) -> torch.dtype:
        exact = next(self.model.parameters()).dtype is torch.float64
        return torch.float64 if exact else torch.float32

    def _add_logprobs(self, batch: Batch) -> None:
        """Add `old_logprobs`, `correction` and, with KL, `reference_logprobs`."""
        batch["old_logprobs"] = self._score_rows(batch, self.model)
        if self.reference is not None:
            with self.reference.lend(self.accelerator.unwrap_model(self.model)) as model:
                batch["reference_logprobs"] = self._score_rows(batch, model)
        batch["correction"], described = correct_sampler(
            self.correction, batch["old_logprobs"], batch["sampler_logprobs"], batch["sampled"]
        )
        self._log_values(described)

    def _score_rows(self, batch: Batch, model: torch.nn.Module) -> torch.Tensor:
        scored = torch.zeros_like(batch["sampled"])
        with torch.no_grad(), self.accelerator.autocast():
            size = self.args.per_device_train_batch_size
            for part, target in zip(split_rows(batch, size), scored.split(size), strict=True):
                logprobs = compute_logprobs(model, part, self.temperature)[0]
                target[:, : logprobs.shape[1]] = logprobs
        return scored

    def compute_loss(
        self, model: torch.nn.Module, inputs: Batch, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """Return the loss of one part of the generation batch. See `losses.compute_policy_loss`.

        A rollout may bring many rows, so the part is read `per_device_train_batch_size` rows at a time: the gradients of all
        but the last are already accumulated, and the loss returned has the gradient of the last.
        """
        parts = list(split_rows(inputs, self.args.per_device_train_batch_size))
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
        # The weights are those of the whole generation batch; an optimizer step sees this share of its parts.
        share = self.current_gradient_accumulation_steps / self.args.steps_per_generation
        return compute_policy_loss(self.objective, logprobs, part) / share

    def _log_part(self, logprobs: torch.Tensor, entropies: torch.Tensor, part: Batch) -> None:
        if part["sampled"].any():
            low, high = measure_clipping(self.objective, logprobs, part)
            entropy = (entropies.sum() / part["sampled"].sum()).item()
            self._log_values({"entropy": entropy, "clipped/low": low, "clipped/high": high})

    def _log_groups(self, groups: Sequence[ScoredGroup], rows: int) -> None:
        scores = [list_present(scored.scores) for scored in groups]
        together = [score for group in scores for score in group]
        if together:
            spreads = [measure_spread(group) for group in scores]
            self._log_values({"reward": sum(together) / len(together), "reward_spread": sum(spreads) / len(spreads)})
        self._log_values({"rows": float(rows)})
        for name, value in [*self.counts.list_counts(), *self.staleness.list_counts()]:
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
                counts=self.counts,
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
        self.counts, self.staleness = state.counts, state.staleness
        self.source.load_state(state.source)


def _refuse_reward(prompts: Any, completions: Any) -> list[float]:
    """Stand where TRL wants a reward."""
    raise AssertionError("rollouts bring their rewards; TRL asked for one")
