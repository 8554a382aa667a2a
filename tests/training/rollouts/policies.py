"""A trainer over the tiny policy, and a source that samples from that policy."""

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from trl import GRPOConfig

from bench.tiny_policy import EOS, VOCABULARY, make_tiny_policy, make_tiny_tokenizer
from tests.training.rollouts.rollout_groups import make_rollout
from training.rollouts.groups import Group
from training.rollouts.nouns import TrainingRow
from training.rollouts.objectives import GRPO, Objective
from training.rollouts.trainer import RolloutTrainer

LONGEST = 3
SEEN = 2


def make_trainer(folder: Path, source: Any, objective: Objective = GRPO, policy: Any = None, **options: Any) -> RolloutTrainer:
    """Make a trainer on the CPU; what is not for `RolloutTrainer` goes into its configuration."""
    ours = ("correction", "by_group", "rows_at_once", "part_weights", "peft_config", "callbacks", "optimizers")
    settings = {
        "output_dir": str(folder),
        "use_cpu": True,
        "bf16": False,
        "max_steps": 1,
        "per_device_train_batch_size": 4,
        "num_generations": 4,
        "gradient_checkpointing": False,
        "report_to": "none",
        "logging_steps": 1,
        "save_strategy": "no",
        "disable_tqdm": True,
        "max_grad_norm": 0.0,
        "optim": "sgd",
        "lr_scheduler_type": "constant",
        "learning_rate": 0.1,
        **{name: value for name, value in options.items() if name not in ours},
    }
    given = {name: value for name, value in options.items() if name in ours}
    policy = policy if policy is not None else make_tiny_policy()
    return RolloutTrainer(policy, source, objective, GRPOConfig(**settings), make_tiny_tokenizer(), **given)


class SampledGroups:
    """A source that samples rollouts of a few tokens from the policy itself."""

    def __init__(self, policy: Any, judge: Callable[[Sequence[int]], float], size: int = 4) -> None:
        self._policy, self._judge, self._size = policy, judge, size
        self._random = random.Random(7)
        self.training: list[bool] = []

    def take_groups(self, count: int, policy_version: int) -> Sequence[Group]:
        """Sample groups of tasks drawn at random."""
        self.training.append(self._policy.training)
        return [self._sample_group(self._random.randrange(2, VOCABULARY), policy_version) for _ in range(count)]

    def save_state(self) -> Mapping[str, Any]:
        """Return the state of the random numbers."""
        version, numbers, gauss = self._random.getstate()
        return {"random": [version, list(numbers), gauss]}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        version, numbers, gauss = state["random"]
        self._random.setstate((version, tuple(numbers), gauss))

    def _sample_group(self, task: int, version: int) -> Group:
        rows = [_cut_row(ids, logprobs) for ids, logprobs in zip(*self._sample_ids(task), strict=True)]
        values = [self._judge([id for id, said in zip(row.ids, row.sampled, strict=True) if said]) for row in rows]
        return [
            (make_rollout(value, str(task), number, version=version), [row])
            for number, (row, value) in enumerate(zip(rows, values, strict=True))
        ]

    @torch.no_grad()
    def _sample_ids(self, task: int) -> tuple[list[list[int]], list[list[float]]]:
        ids = [[SEEN, task] for _ in range(self._size)]
        logprobs: list[list[float]] = [[0.0, 0.0] for _ in range(self._size)]
        for _ in range(LONGEST):
            spreads = self._policy(torch.tensor(ids)).logits[:, -1].log_softmax(-1)
            for own, known, spread in zip(ids, logprobs, spreads, strict=True):
                own.append(self._random.choices(range(VOCABULARY), spread.exp().tolist())[0])
                known.append(spread[own[-1]].item())
        return ids, logprobs


def _cut_row(ids: list[int], logprobs: list[float]) -> TrainingRow:
    """Cut a sample after its end of sequence, if it has one."""
    end = ids.index(EOS) + 1 if EOS in ids else len(ids)
    sampled = tuple(place > 1 for place in range(end))
    return TrainingRow("a", tuple(ids[:end]), sampled, tuple(logprobs[:end]), tuple(0 if said else -1 for said in sampled))
