"""Waiting for a server that is away without overloading it.

One `ServerCircuit` stands for one server (a model's, the index). All stages of a worker share it. After a failure each call
waits (exponential back-off with jitter, or the server's own Retry-After). While the circuit is open only one call at a time goes
out, as a probe; an answer releases the others. This module never gives up: the caller decides in `notice` when to stop.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias, TypeVar

from app.domain.errors import ContextTooLong, ModelRefused, ModelUnavailable, RubricaError, ToolUnavailable
from workflows.chat_models.call_watch import CallWatch
from workflows.durable.policies import FIRST_WAIT, HALT_POLL, LONGEST_RETRY_AFTER, LONGEST_WAIT

T = TypeVar("T")
Outage: TypeAlias = ModelUnavailable | ToolUnavailable

# Called before each stretch of waiting with its reason and how long is left; raises when the caller is to stop waiting.
WaitNotice: TypeAlias = Callable[[Outage, timedelta], Awaitable[None]]

# A request that failed this often while the server answered others in between will not be answered by waiting.
LONELY_FAILURES = 12

_SILENT = ModelUnavailable("the server does not answer; one call at a time tries again for all")


def backoff_after(failures: int, draw: Callable[[], float]) -> timedelta:
    """Return the wait after this many failures in a row: it doubles up to a limit, and a random part is at most half of it."""
    longest = min(LONGEST_WAIT, FIRST_WAIT * float(2 ** min(failures - 1, 10)))
    return longest * (0.5 + 0.5 * draw())


@dataclass
class ServerCircuit:
    """The state of one server. A hopeless request raises `refusal`; `clock` gives seconds, `draw` a number in [0, 1).

    `refusals` counts the requests that were refused since the last answer, but for those that are merely too long. `voice` hears
    every token that a call of this server hears.
    """

    refusal: type[RubricaError] = ModelRefused
    clock: Callable[[], float] = time.monotonic
    draw: Callable[[], float] = random.random
    failures: int = field(default=0, init=False)
    answers: int = field(default=0, init=False)
    refusals: int = field(default=0, init=False)
    probe_at: float = field(default=0.0, init=False)
    voice: CallWatch = field(default_factory=CallWatch, init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    async def call(self, ask: Callable[[], Awaitable[T]], notice: WaitNotice) -> T:
        """Return the answer to `ask`, however long the server is away.

        Raises:
            RubricaError: from `ask`, or `refusal` when this request alone keeps failing while others are answered.
            BaseException: the error that `notice` raises to stop waiting.
        """
        caller = _CircuitCaller(self)
        while True:
            if caller.reason or self.failures:
                await self._wait_turn(caller, notice)
            probe = self._begin_call()
            try:
                answer = await ask()
            except (ModelUnavailable, ToolUnavailable) as reason:
                self._note_failure(reason, probe)
                caller.note_failure(reason)
            except RubricaError as error:
                self._note_answer()  # it does not serve this one request, so it is there
                self.refusals += not isinstance(error, ContextTooLong)
                raise
            else:
                self._note_answer()
                self.refusals = 0
                return answer

    async def _wait_turn(self, caller: "_CircuitCaller", notice: WaitNotice) -> None:
        """Wait until this caller's own wait is over and, while the circuit is open, until it may be the probe."""
        while (left := caller.opens_at() - self.clock()) > 0:
            changed = self._changed
            await notice(caller.reason or _SILENT, timedelta(seconds=left))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, HALT_POLL.total_seconds())):
                    await changed.wait()

    def _begin_call(self) -> bool:
        """Begin a call and say whether it is a probe. A probe makes others wait until it fails, at most the longest back-off."""
        if self.failures:
            self.probe_at = self.clock() + LONGEST_WAIT.total_seconds()
        return self.failures > 0

    def _note_failure(self, reason: Outage, probe: bool) -> None:
        """Count a failure. Calls that fail together are one failure. A rate limit concerns only its caller."""
        if probe or (not self.failures and reason.retry_after is None):
            self.failures += 1
            self.probe_at = self.clock() + backoff_after(self.failures, self.draw).total_seconds()

    def _note_answer(self) -> None:
        self.answers += 1
        if self.failures:
            self.failures = 0
            self._changed.set()
            self._changed = asyncio.Event()


class _CircuitCaller:
    """The waiting state of one call."""

    def __init__(self, circuit: ServerCircuit) -> None:
        self.reason: Outage | None = None
        self._circuit = circuit
        self._not_before = circuit.clock()
        self._failures = 0
        self._lonely = 0
        self._answers = circuit.answers

    def opens_at(self) -> float:
        return max(self._not_before, self._circuit.probe_at) if self._circuit.failures else self._not_before

    def note_failure(self, reason: Outage) -> None:
        self.reason = reason
        self._failures += 1
        if reason.retry_after is None and self._circuit.answers > self._answers:
            self._lonely += 1
        if self._lonely >= LONELY_FAILURES:
            message = f"this request failed {self._failures} times while the server answered others: {reason}"
            raise self._circuit.refusal(message) from reason
        self._answers = self._circuit.answers
        self._not_before = self._circuit.clock() + self._wait_after(reason).total_seconds()

    def _wait_after(self, reason: Outage) -> timedelta:
        """Return the wait after a failure: at least what the server asks for, plus jitter that keeps callers apart."""
        own = backoff_after(self._failures, self._circuit.draw)
        if reason.retry_after is None:
            return own
        return min(reason.retry_after, LONGEST_RETRY_AFTER) + own * 0.2
