"""The entrance of all calls to services outside. A caller provides one attempt; the entrance does everything around it."""

import asyncio
import hashlib
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

import orjson

from app.domain.errors import ToolError, Unavailable
from app.domain.outside_calls import StoredResult
from retrieval.outside.breaker import Breaker
from retrieval.outside.freshness import allowed_age_of
from retrieval.outside.meter import CallEnd, CallMeter
from retrieval.outside.ports import SharedStore
from retrieval.outside.provider import Provider
from retrieval.outside.trial import Attempt, CallLane, CallTrial, map_outage

T = TypeVar("T")
FIRST_POLL = timedelta(milliseconds=50)
LONGEST_POLL = timedelta(seconds=1)
# The time that most calls take. A worker that dies with a claim delays others by no more; a longer call may be made twice.
LEASE = timedelta(seconds=15)

log = logging.getLogger(__name__)


class OutsideAnswer(NamedTuple):
    """A call's result. `age` is zero when it was fetched for this call."""

    body: bytes
    fetched_at: datetime
    age: timedelta = timedelta(0)


@dataclass
class Entrance:
    """Limits, retries, cache, joining and counting for every outside call of one worker.

    `clock` gives seconds, `draw` a number in [0, 1).
    """

    shared: SharedStore
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[], float] = random.random
    meter: CallMeter = field(default_factory=CallMeter)
    _lanes: dict[str, CallLane] = field(default_factory=dict, init=False)
    # There may be a part for every host of the web, so each lasts only while a call uses it.
    _parts: WeakValueDictionary[str, CallLane] = field(default_factory=WeakValueDictionary, init=False)
    _under_way: dict[str, asyncio.Task[OutsideAnswer]] = field(default_factory=dict, init=False)

    async def call(
        self, provider: Provider, arguments: Mapping[str, Any], attempt: Attempt, patience: timedelta, part: str = ""
    ) -> OutsideAnswer:
        """Return the result of `attempt`, a stored one of an equal call, or that of an equal call under way in any worker.

        `arguments` name the call. `part` names the part of the provider whose limit applies, such as a host; default: all of it.

        Raises:
            OutsideFailed: there is no result within `patience`, or none at all.
            ToolUnavailable: the store that the workers share does not answer.
        """
        key = _key_of(provider.name, arguments)
        began, task = self.clock(), self._under_way.get(key)
        end = CallEnd.JOINED if task else CallEnd.ANSWERED
        if task is None:
            trial = self._make_trial(provider, part, began + patience.total_seconds())
            task = self._under_way[key] = asyncio.create_task(self._answer(key, trial, attempt))
            task.add_done_callback(lambda done: self._drop_task(key, done))
        try:
            answer = await asyncio.shield(task)
        except ToolError:
            self.meter.count_call(provider.name, CallEnd.FAILED, self.clock() - began)
            raise
        if end is CallEnd.ANSWERED and answer.age:
            end = CallEnd.KEPT
        self.meter.count_call(provider.name, end, self.clock() - began)
        return answer

    def _drop_task(self, key: str, task: asyncio.Task[OutsideAnswer]) -> None:
        self._under_way.pop(key, None)
        if not task.cancelled():
            task.exception()  # read it, since all callers may be gone

    def _make_trial(self, provider: Provider, part: str, deadline: float) -> CallTrial:
        return CallTrial(provider, self._lane_of(provider, part), deadline, self.shared, self.meter, self.clock, self.draw)

    def _lane_of(self, provider: Provider, part: str) -> CallLane:
        known = self._parts if part else self._lanes
        name = f"{provider.name}:{part}" if part else provider.name
        lane = known.get(name)
        if lane is None:
            lane = known[name] = CallLane(name, Breaker(self.clock), asyncio.Semaphore(provider.at_once))
        return lane

    async def _answer(self, key: str, trial: CallTrial, attempt: Attempt) -> OutsideAnswer:
        keeps = trial.provider.max_age > timedelta(0)
        kept = await self._wait_or_claim(key, trial) if keeps else None
        if kept is not None:
            return OutsideAnswer(kept.body, kept.fetched_at, max(kept.age, timedelta(microseconds=1)))
        try:
            fetched = await trial.run_attempts(attempt)
        except BaseException:
            if keeps:
                await self._log_outage("a claim is not given back", self.shared.release(key))
            raise
        # A failure to store the answer is no reason to withhold it.
        at = None
        if keeps or fetched.texts:
            at = await self._log_outage("an answer is not kept", self.shared.finish(key, fetched.body, fetched.texts))
        return OutsideAnswer(fetched.body, at or datetime.now(UTC))

    async def _wait_or_claim(self, key: str, trial: CallTrial) -> StoredResult | None:
        """Return a stored result; None when this worker must make the call.

        While another worker makes the call, this one waits, but no longer than half its patience.
        """
        poll = FIRST_POLL
        waits_until = (self.clock() + trial.deadline) / 2
        while True:
            async with map_outage():
                opening = await self.shared.begin(key, allowed_age_of(trial.provider.max_age), LEASE)
            if opening.mine or opening.kept or self.clock() >= waits_until:
                return opening.kept
            await asyncio.sleep(poll.total_seconds())
            poll = min(LONGEST_POLL, poll * 1.5)

    async def _log_outage(self, what: str, work: Awaitable[T]) -> T | None:
        try:
            return await work
        except Unavailable as error:
            log.warning("%s: %s", what, error)
            return None


def _key_of(name: str, arguments: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps([name, arguments], option=orjson.OPT_SORT_KEYS)).hexdigest()
