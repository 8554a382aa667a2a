"""Rollouts of held-out tasks, one of each: what validations measure."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from training.rollouts.collect import Collector
from training.rollouts.collection_failures import CollectionFailed
from training.rollouts.collector_settings import CollectorSettings, Handover
from training.rollouts.nouns import Rollout, Task
from training.rollouts.rollout_work import RolloutWork

M = TypeVar("M")
MISSING = "validation_missing"
"""The figure of a validation that says the share of its tasks without a reward."""


async def sample_held_out(tasks: Sequence[Task[M]], opened: AbstractAsyncContextManager[RolloutWork[M]]) -> list[Rollout]:
    """Sample and judge one rollout of each task, all at once; tasks without a reward are left out.

    Raises:
        CollectionFailed: no rollout has a reward.
    """
    settings = CollectorSettings(group_size=1, groups_a_step=len(tasks), most_missing_share=1.0, handover=Handover.IN_TASK_ORDER)
    async with opened as work, Collector(tasks, work, settings) as collector:
        rollouts = [group.rollouts[0] for group in await collector.next_batch(len(tasks))]
    if not rollouts:
        raise CollectionFailed("validation: no rollout has a reward")
    return rollouts
