"""The trainer's side: a loop in this thread that knows no asyncio, with the collector in a thread of its own."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.training.rollouts.small_rollouts import USUAL_WORK, ask_policy, make_tasks
from training.rollouts.collect import Collector
from training.rollouts.collection_failures import CollectionFailed
from training.rollouts.collector_settings import CollectorSettings
from training.rollouts.collector_state import CollectorState
from training.rollouts.collector_thread import CollectorThread
from training.rollouts.nouns import Reward, Rollout, Task
from training.rollouts.rollout_work import RolloutWork


@asynccontextmanager
async def open_usual() -> AsyncIterator[Collector[int]]:
    settings = CollectorSettings(groups_a_step=2, group_size=2, most_versions_old=1)
    async with Collector(make_tasks(), USUAL_WORK, settings) as collector:
        yield collector


def test_a_trainer_takes_batches_and_says_which_version_the_sampler_has() -> None:
    with CollectorThread(open_usual) as thread:
        trained = []
        for version in range(1, 5):
            trained += [group.position for group in thread.next_batch(3)]
            thread.set_policy_version(version)
        state = thread.read_state()
    assert sorted(trained) == list(range(12))
    assert (state.position, state.policy_version, state.counts.handed_over) == (12, 4, 12)
    assert CollectorState.of_any_version(state.model_dump_json()) == state
    assert "collector" not in [each.name for each in threading.enumerate()]


def test_what_cannot_be_opened_is_raised_in_the_trainer() -> None:
    @asynccontextmanager
    async def open_nothing() -> AsyncIterator[Collector[int]]:
        raise ConnectionError("no sampler there")
        yield

    with pytest.raises(ConnectionError, match="no sampler"), CollectorThread(open_nothing):
        pass


def test_a_collection_that_fails_is_raised_in_the_trainer() -> None:
    async def refuse(_: Task[int], __: Rollout) -> Reward:
        raise ConnectionError("no judge there")

    @asynccontextmanager
    async def open_judgeless() -> AsyncIterator[Collector[int]]:
        settings = CollectorSettings(groups_a_step=2, group_size=2, most_tries=1, most_given_up=1)
        async with Collector(make_tasks(), RolloutWork(ask_policy, refuse), settings) as collector:
            yield collector

    with CollectorThread(open_judgeless) as thread, pytest.raises(CollectionFailed, match="no judge there"):
        thread.next_batch(1)


def test_an_error_of_the_trainer_ends_the_collector_too() -> None:
    def train() -> None:
        with CollectorThread(open_usual) as thread:
            raise ZeroDivisionError(len(thread.next_batch(1)))

    with pytest.raises(ZeroDivisionError):
        train()
    assert "collector" not in [each.name for each in threading.enumerate()]
