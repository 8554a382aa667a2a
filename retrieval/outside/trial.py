"""The attempts of one call: their slots, the retries, and the end."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple, TypeAlias

from app.domain.errors import ToolError, ToolUnavailable, Unavailable
from retrieval.outside.breaker import Breaker
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.meter import CallMeter
from retrieval.outside.ports import SharedStore
from retrieval.outside.provider import Provider

FIRST_WAIT = timedelta(milliseconds=250)
LONGEST_WAIT = timedelta(seconds=15)
LONGEST_HOLD = timedelta(hours=1)
LONGEST_POLL = timedelta(seconds=1)
# A busy worker may wake up for many slots at once. It exchanges slots that it missed by this much, so that no burst goes out.
MISSED_BY = timedelta(milliseconds=100)
MOST_EXCHANGES = 5


class FetchedAnswer(NamedTuple):
    """The result of an attempt: a body to store, and its texts by hash, which may be quoted later."""

    body: bytes
    texts: Mapping[str, str] = {}


Attempt: TypeAlias = Callable[[], Awaitable[FetchedAnswer]]


class OutsideFailed(ToolError):
    """A call failed for good. It has the failure of its last attempt; the message is for the agent."""

    def __init__(self, message: str, failure: Failure) -> None:
        super().__init__(message)
        self.failure = failure


@dataclass
class CallLane:
    """This worker's state of a provider, or of a part with its own limit. `held_until` is in seconds of the clock."""

    name: str
    breaker: Breaker
    room: asyncio.Semaphore
    held_until: float = 0.0


@dataclass
class CallTrial:
    """The attempts of one call of `provider`, up to `deadline` (in seconds of `clock`). `draw` gives a number in [0, 1)."""

    provider: Provider
    lane: CallLane
    deadline: float
    shared: SharedStore
    meter: CallMeter
    clock: Callable[[], float]
    draw: Callable[[], float]
    made: int = field(default=0, init=False)

    async def run_attempts(self, attempt: Attempt) -> FetchedAnswer:
        """Return the result of the first attempt that succeeds.

        Raises:
            OutsideFailed: no attempt succeeded, or none may begin in time.
            ToolUnavailable: the store that the workers share does not answer.
        """
        last: CallFailed | None = None
        while True:
            try:
                return await self._attempt_in_turn(attempt, last)
            except CallFailed as error:
                last = error
            if not last.failure.passing or self.made >= self.provider.attempts:
                raise self._failure_of(last) from last
            await self._pause(last)

    @property
    def _left(self) -> timedelta:
        return timedelta(seconds=max(0.0, self.deadline - self.clock()))

    @property
    def _longest_attempt(self) -> timedelta:
        return min(self.provider.attempt_limit, self._left)

    async def _attempt_in_turn(self, attempt: Attempt, last: CallFailed | None) -> FetchedAnswer:
        """Make one attempt in its slot. The slot is taken last, so that calls cannot pile up behind it and then burst out."""
        room = self.lane.room
        try:
            async with asyncio.timeout(self._left.total_seconds()):
                await room.acquire()
        except TimeoutError:
            raise self._failure_of(last or CallFailed(Failure.RATE_LIMITED, "too many calls wait for it")) from None
        try:
            await self._wait_for_admission(last)
            return await self._attempt(attempt)
        finally:
            room.release()

    async def _wait_for_admission(self, last: CallFailed | None) -> None:
        """Wait until the breaker is closed, and for a slot that all workers agree on."""
        exchanges = 0
        while True:
            await self._wait_for_breaker(last)
            late = await self._wait_for_slot(last)
            if late > MISSED_BY and exchanges < MOST_EXCHANGES:
                exchanges += 1
            elif self.clock() >= self.lane.held_until and not self.lane.breaker.time_until_open():
                self.lane.breaker.note_start(self._longest_attempt)
                return

    async def _wait_for_slot(self, last: CallFailed | None) -> timedelta:
        """Take a slot, wait for it, and return the time by which it was missed."""
        async with map_outage():
            wait = await self.shared.take(self.lane.name, self.provider.every, self.provider.burst, self._left)
        if wait is None:
            raise self._failure_of(last or CallFailed(Failure.RATE_LIMITED, "its rate limit leaves no room in time"))
        due = self.clock() + wait.total_seconds()
        await asyncio.sleep(wait.total_seconds())
        return timedelta(seconds=self.clock() - due)

    async def _wait_for_breaker(self, last: CallFailed | None) -> None:
        while wait := self.lane.breaker.time_until_open():
            if wait > self._left:
                reason = f"{self.provider.name} is left alone for now: {self.lane.breaker.reason or 'it does not answer'}"
                raise OutsideFailed(reason, last.failure if last else Failure.UNAVAILABLE)
            await asyncio.sleep(min(wait, LONGEST_POLL).total_seconds())

    async def _attempt(self, attempt: Attempt) -> FetchedAnswer:
        began = self.clock()
        self.made += 1
        try:
            async with asyncio.timeout(self._longest_attempt.total_seconds()):
                fetched = await attempt()
        except TimeoutError:
            error = CallFailed(Failure.TIMED_OUT, f"no answer within {self.clock() - began:.1f} s")
        except CallFailed as raised:
            error = raised
        else:
            self.lane.breaker.note_answer()
            return fetched
        self.lane.breaker.note_failure(error.failure, str(error))
        self.meter.count_attempt(self.provider.name, error.failure, self.clock() - began)
        raise error

    async def _pause(self, last: CallFailed) -> None:
        """Wait between two attempts: as the provider wishes, for all workers; else full jitter under a doubling bound."""
        if last.retry_after:
            pause = min(last.retry_after, LONGEST_HOLD)
            self.lane.held_until = max(self.lane.held_until, self.clock() + pause.total_seconds())
            async with map_outage():
                await self.shared.hold(self.lane.name, pause)
            return
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(self.made, 10)) * self.draw()
        if wait > self._left:
            raise self._failure_of(last) from last
        await asyncio.sleep(wait.total_seconds())

    def _failure_of(self, last: CallFailed) -> OutsideFailed:
        tries = f" ({self.made} attempts)" if self.made > 1 else ""
        return OutsideFailed(f"{self.provider.name}: {last}{tries}", last.failure)


@asynccontextmanager
async def map_outage() -> AsyncIterator[None]:
    """Turn an outage of the shared store into `ToolUnavailable`, which callers wait out like an outage of the index."""
    try:
        yield
    except Unavailable as error:
        raise ToolUnavailable(str(error)) from error
