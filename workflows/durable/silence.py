"""How long a model may be silent: after a while its silence is told, and far beyond the usual time its call is given up.

A call is silent from its beginning to its first token, and from each token to the next. A server on this machine answers its
calls one after the other and reads a long prompt for minutes, so that a call there counts as silent only while the whole server
is.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from app.domain.chat import ChatRequest
from workflows.chat_models.call_watch import CallWatch
from workflows.chat_models.estimating import estimate_usage
from workflows.durable.policies import LAST_LOOK, LONGEST_SILENCE, TOLD_SILENCE, USUAL_SILENCE
from workflows.durable.run_rooms import SharedCall

# Called with the silence so far, and with how much more of it there may be.
SilenceNotice: TypeAlias = Callable[[timedelta, timedelta], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ServerPace:
    """The tokens a second that a slow server reads and writes; one that hides its thinking writes for as long in silence."""

    reads: float
    writes: float


ELSEWHERE, ON_THIS_MACHINE = ServerPace(500, 20), ServerPace(10, 10)


@dataclass(frozen=True, slots=True)
class SilencePolicy:
    """When a silence is told, and when a call is given up; None: beyond the usual time for the tokens that it asks for."""

    tell_after: timedelta = TOLD_SILENCE
    give_up_after: timedelta | None = None
    on_this_machine: bool = False

    def limit_of(self, request: ChatRequest, watch: CallWatch) -> timedelta:
        """Return how long the call may be silent now. Once its first token has come, its length does not count."""
        if self.give_up_after is not None:
            return self.give_up_after
        if watch.began:
            return USUAL_SILENCE
        pace = ON_THIS_MACHINE if self.on_this_machine else ELSEWHERE
        usual_s = estimate_usage(request, "").input_tokens / pace.reads + request.max_tokens / pace.writes
        return min(LONGEST_SILENCE, USUAL_SILENCE + timedelta(seconds=usual_s))

    def read_silence(self, watch: CallWatch) -> timedelta:
        """Return the silence that counts towards the limit."""
        server = watch.server if self.on_this_machine else None
        return timedelta(seconds=min(watch.silent_s, server.silent_s) if server else watch.silent_s)


USUAL_PATIENCE = SilencePolicy()


async def await_answer(call: SharedCall, request: ChatRequest, policy: SilencePolicy, notice: SilenceNotice) -> bool:
    """Wait for the answer of a call, and give notice of its silence, each time it has lasted twice as long. False: too long."""
    tell_at = policy.tell_after
    while not call.answer.done():
        silent, counted = timedelta(seconds=call.watch.silent_s), policy.read_silence(call.watch)
        left = policy.limit_of(request, call.watch) - counted
        if left <= timedelta(0):
            # A worker that was frozen has not read yet what its socket holds.
            await asyncio.wait((call.answer,), timeout=LAST_LOOK.total_seconds())
            if policy.read_silence(call.watch) > counted:
                return call.answer.done()
            continue
        if silent < policy.tell_after:
            tell_at = policy.tell_after  # tokens have come since it was told
        elif silent >= tell_at:
            await notice(silent, left)
            tell_at = silent * 2
        await asyncio.wait((call.answer,), timeout=min(left, tell_at - silent).total_seconds())
    return True
