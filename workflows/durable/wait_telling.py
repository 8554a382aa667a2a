"""Telling a run's watchers that it waits: for a server that is away, or for a model that is silent."""

import time
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any

from app.domain.run import EventType
from workflows.durable.outage import Outage
from workflows.durable.policies import LONG_WAIT, WAITING_EVENT_EVERY
from workflows.durable.stage_ledger import StageLedger

QUIET_WAIT = timedelta(seconds=1)
CHOICE = ("wait", "finish", "pause", "cancel")


class WaitTelling:
    """What one attempt at a stage tells of its waits. Outages are told now and then, whichever of its agents meets them."""

    def __init__(self, ledger: StageLedger) -> None:
        self._ledger = ledger
        self._announced = -WAITING_EVENT_EVERY.total_seconds()

    def make_notice(
        self, agent: str, what: str, obey: Callable[[], Awaitable[None]]
    ) -> Callable[[Outage, timedelta], Coroutine[Any, Any, None]]:
        """Return what to do before each wait for a server: obey the run's wishes, and tell its watchers now and then."""

        async def notice(reason: Outage, left: timedelta) -> None:
            await obey()
            now = time.monotonic()
            if left >= QUIET_WAIT and now - self._announced >= WAITING_EVENT_EVERY.total_seconds():
                self._announced = now
                choice = {"options": CHOICE} if reason.retry_after and reason.retry_after > LONG_WAIT else {}
                await self._tell(agent, what, str(reason), left, choice)

        return notice

    async def tell_silence(self, agent: str, silent: timedelta, left: timedelta) -> None:
        """Tell that a model's call hears nothing, and after which further silence it is made once more."""
        seconds = round(silent.total_seconds())
        await self._tell(agent, "model", f"the model has sent nothing for {seconds} s", left, {"silent_s": seconds})

    async def _tell(self, agent: str, what: str, detail: str, left: timedelta, more: dict[str, Any]) -> None:
        told = {"what": what, "detail": detail, "retry_in_s": round(left.total_seconds(), 1)}
        await self._ledger.tell(EventType.WAITING, agent, told | more)
