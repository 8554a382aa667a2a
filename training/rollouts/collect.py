"""The collector: it samples and judges groups of rollouts, all at once, and hands them to the trainer as they complete.

Nothing waits for a turn, a rollout or a reward of another one (MindDR sections 5.1 and 6.3: asynchronous generation, execution
between trajectories and tool calls). How many groups are under way depends on the trainer: what it needs for this step and for
the next k, so that a group is seldom more than k policy versions old (the same bound as Eq. 3 of AReaL, arXiv 2505.24298).
`linear_pipeline` has a window of fixed width, which does not fit; here a group begins when there is room for it.

Here and only here errors become scored rollouts.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from types import TracebackType
from typing import Generic, NamedTuple, Self, TypeVar

from app.domain.missing import Missing
from training.rollouts.collection_failures import CollectionFailed, Fault, GivenUpTasks
from training.rollouts.collector_settings import CollectorSettings, Handover
from training.rollouts.collector_state import CollectorState, SettledPositions
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import Draw, RolloutGroup, RolloutOutcome, RolloutWork
from workflows.systems.local_record import LocalRecord

M = TypeVar("M")
UNJUDGED = Reward(Missing("it is not judged yet"))


class _Offer(NamedTuple, Generic[M]):
    """A complete group that waits for the trainer; `taken` becomes False when the group grows too old meanwhile."""

    group: RolloutGroup[M]
    taken: asyncio.Future[bool]


class Collector(Generic[M]):
    """Collects groups while it is entered as an asynchronous context. All of it belongs to one event loop.

    `tasks` are read in order, one for each group, and may go on for ever; after a restart with a `state` they begin anew from
    the first, and those that are done are passed over.
    """

    def __init__(
        self, tasks: Iterable[Task[M]], work: RolloutWork[M], settings: CollectorSettings, state: CollectorState | None = None
    ) -> None:
        state = state or CollectorState()
        self.settings = settings
        self.counts = state.counts.copy()
        self._versions = deque([state.policy_version], maxlen=settings.most_versions_old + 1)
        self._settled = SettledPositions(state)
        self._tasks, self._work = tasks, work
        self._open: set[int] = set()
        self._offers: dict[int, _Offer[M]] = {}
        self._given_up = GivenUpTasks(settings.most_given_up)
        self._wanted = self._taken = 0
        self._all_begun = False
        self._failure: CollectionFailed | None = None
        self._changed = asyncio.Event()
        self._collecting: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._collecting = asyncio.create_task(self._collect())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._collecting is not None:
            self._collecting.cancel()
            with suppress(asyncio.CancelledError):
                await self._collecting

    @property
    def policy_version(self) -> int:
        """The version that the sampler has."""
        return self._versions[-1]

    @property
    def state(self) -> CollectorState:
        """What a checkpoint keeps. Groups under way are not part of it."""
        return CollectorState(
            policy_version=self.policy_version,
            position=self._settled.first_open,
            settled=tuple(sorted(self._settled.beyond)),
            counts=self.counts.copy(),
        )

    async def next_batch(self, groups: int) -> tuple[RolloutGroup[M], ...]:
        """Wait for this many groups and return them; fewer, or none, when the tasks are over. One caller at a time.

        A trainer may take all groups of a step together, or one after the other, and work on the first while others are sampled.

        Raises:
            CollectionFailed: too many tasks were given up one after the other, or the tasks could not be read.
            NothingLeftToLearn: they were given up because their rewards no longer differ.
        """
        self._wanted = groups
        self._announce()
        try:
            await self._wait_until(
                lambda: self._failure is not None or len(self._list_ready()) >= groups or self._nothing_more_comes()
            )
            if self._failure is not None:
                raise self._failure
            return tuple(self._hand_over(offer) for offer in self._list_ready()[:groups])
        finally:
            self._wanted = 0

    def set_policy_version(self, version: int) -> None:
        """Say that the sampler has this version of the policy now. Groups that are too old for it are sampled again.

        Versions may skip numbers, as where they count optimizer steps; the age of a group counts only those of the sampler.
        """
        if version < self.policy_version:
            raise ValueError(f"policy versions only rise: {self.policy_version}, then {version}")
        if version > self.policy_version:
            self._versions.append(version)
            self._taken = 0
        for position, offer in tuple(self._offers.items()):
            if self._is_too_old(offer.group):
                del self._offers[position]
                offer.taken.set_result(False)
        self._announce()

    async def _collect(self) -> None:
        """Begin a group whenever there is room, until the tasks are over."""
        try:
            async with asyncio.TaskGroup() as under_way:
                for position, task in enumerate(self._tasks):
                    if position in self._settled:
                        continue
                    await self._wait_until(self._has_room)
                    self._open.add(position)
                    under_way.create_task(self._bring_group(position, task))
                self._all_begun = True
                self._announce()
        except ExceptionGroup as errors:  # `next_batch` raises the first
            if self._failure is None:
                self._failure = CollectionFailed(f"no more rollouts: {errors.exceptions[0]}")
                self._failure.__cause__ = errors.exceptions[0]
            self._announce()

    async def _bring_group(self, position: int, task: Task[M]) -> None:
        """Sample a task's group until one is taken, or the task is given up."""
        attempt = faulty = 0
        while True:
            group = await self._sample_group(position, task, attempt)
            attempt += 1
            fault = self._find_fault(group)
            if fault is None and await self._offer(group):
                return
            self._count_fault(fault or Fault.TOO_OLD)
            faulty += fault in (Fault.TOO_MANY_MISSING, Fault.NO_SPREAD)
            if fault is not None and faulty >= self.settings.most_tries:
                self._give_up(group, fault)
                return

    async def _sample_group(self, position: int, task: Task[M], attempt: int) -> RolloutGroup[M]:
        """Sample and judge all rollouts of a group at once."""
        version, seed = self.policy_version, self.settings.seed
        async with asyncio.TaskGroup() as sampling:
            drawn = [
                sampling.create_task(self._sample_rollout(Draw(task, position, number, attempt, version, seed)))
                for number in range(self.settings.group_size)
            ]
        return RolloutGroup(task, position, tuple(each.result() for each in drawn), version)

    async def _sample_rollout(self, draw: Draw[M]) -> Rollout:
        """Sample and judge one rollout. An error costs this rollout only; its turns up to the error are kept.

        Where a server stayed away the rollout has failed, and the policy is neither rewarded nor punished for it.
        """
        record = LocalRecord(draw.episode)
        try:
            outcome = await self._work.run(draw, record)
        except Exception as error:  # noqa: BLE001  (whatever it is, the others of the group and of the batch go on)
            outcome = RolloutOutcome("", RolloutEnd.FAILED, describe_error(error))
        if record.outage:
            outcome = RolloutOutcome(outcome.output, RolloutEnd.FAILED, record.outage)
        rollout = Rollout(
            task=draw.task.id,
            number=draw.number,
            trajectory=record.trajectory,
            output=outcome.output,
            end=outcome.end,
            reward=UNJUDGED,
            detail=outcome.detail,
            policy_version=draw.policy_version,
        )
        reward = Reward(Missing(record.outage)) if record.outage else await self._judge(draw.task, rollout)
        judged = replace(rollout, reward=reward)
        self.counts.count_rollout(judged, isinstance(judged.reward.value, Missing))
        return judged

    async def _judge(self, task: Task[M], rollout: Rollout) -> Reward:
        """Return the rollout's reward; one that cannot be had, or is no finite number, is missing."""
        try:
            reward = await self._work.judge(task, rollout)
        except Exception as error:  # noqa: BLE001  (as above)
            return Reward(Missing(describe_error(error)))
        if isinstance(reward.value, Missing) or isfinite(reward.value):
            return reward
        return replace(reward, value=Missing(f"{reward.value} is no value"))

    def _find_fault(self, group: RolloutGroup[M]) -> Fault | None:
        if self._is_too_old(group):
            return Fault.TOO_OLD
        if not group.rewards or group.missing_share > self.settings.most_missing_share:
            return Fault.TOO_MANY_MISSING
        least = self.settings.least_spread
        return Fault.NO_SPREAD if least is not None and group.spread < least else None

    def _is_too_old(self, group: RolloutGroup[M]) -> bool:
        return group.policy_version < self._versions[0]

    async def _offer(self, group: RolloutGroup[M]) -> bool:
        """Wait until the trainer takes the group. Return False when it has grown too old before."""
        self._given_up.end_row()
        offer = self._offers[group.position] = _Offer(group, asyncio.get_running_loop().create_future())
        self._announce()
        return await offer.taken

    def _hand_over(self, offer: _Offer[M]) -> RolloutGroup[M]:
        group = offer.group
        del self._offers[group.position]
        self._settle(group.position)
        self._taken += 1
        self.counts.count_handed_over(sum(version > group.policy_version for version in self._versions))
        offer.taken.set_result(True)
        return group

    def _give_up(self, group: RolloutGroup[M], fault: Fault) -> None:
        self.counts.given_up += 1
        self._failure = self._failure or self._given_up.add(group, fault)
        self._settle(group.position)

    def _settle(self, position: int) -> None:
        self._open.remove(position)
        self._settled.add(position)
        self._announce()

    def _count_fault(self, fault: Fault) -> None:
        self.counts.too_old += fault is Fault.TOO_OLD
        self.counts.too_many_missing += fault is Fault.TOO_MANY_MISSING
        self.counts.no_spread += fault is Fault.NO_SPREAD

    def _list_ready(self) -> list[_Offer[M]]:
        """Return the offers that may be handed over, in order."""
        if self.settings.handover is Handover.AS_COMPLETED:
            return list(self._offers.values())
        ready = list[_Offer[M]]()
        for position in sorted(self._open):
            if position not in self._offers:
                break
            ready.append(self._offers[position])
        return ready

    def _has_room(self) -> bool:
        """Tell whether another group can still be handed over before it grows too old."""
        a_step = self.settings.groups_a_step
        return len(self._open) < max(self._wanted, a_step - self._taken) + self.settings.most_versions_old * a_step

    def _nothing_more_comes(self) -> bool:
        return self._all_begun and len(self._open) == len(self._offers)

    def _announce(self) -> None:
        """Wake all that wait for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def _wait_until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            await self._changed.wait()


def describe_error(error: BaseException) -> str:
    """Return an error's kind and message in a line."""
    return f"{type(error).__name__}: {error}"
