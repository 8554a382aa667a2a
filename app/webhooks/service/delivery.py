"""Send due messages to webhooks, at least once each, beside other processes that do the same.

Endpoints are customers' machines: slow, down, or at forbidden addresses. Each gets little time and a few messages at
once; a redirect is not followed, an answer's body is not read, and no address of a private network is connected to.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from app.database.engine import Executor
from app.domain.errors import Unavailable
from app.outgoing.addresses import IPNetwork
from app.webhooks import storage as webhooks
from app.webhooks.nouns import OutgoingMessage
from app.webhooks.storage import AttemptReport

if TYPE_CHECKING:
    from app.outgoing.guard import LookUp
    from app.webhooks.service.sending import Sender

# The pause after each failed attempt, in turn; together about a day and a half.
PAUSES = (
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=18),
)
JITTER = 0.2
TIME_LIMIT = timedelta(seconds=15)
# A taken message is reported within this time, or due again.
LEASE = timedelta(seconds=60)
AT_ONCE, OF_EACH = 32, 4
LONGEST_WAIT = timedelta(seconds=30)
BETWEEN_LOOKS = timedelta(milliseconds=250)
AFTER_ERROR = timedelta(seconds=5)
PATIENCE = timedelta(days=5)
KEEP_FOR = timedelta(days=30)
STATUS_GONE = 410

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DeliveryPolicy:
    """The rules of sending. `networks` are private ones that endpoints may be in; `lookup` replaces the system's resolver.

    `proxy` is one that the operator names: it makes all connections.
    """

    networks: Sequence[IPNetwork] = ()
    pauses: Sequence[timedelta] = PAUSES
    time_limit: timedelta = TIME_LIMIT
    lookup: "LookUp | None" = None
    proxy: str | None = field(default=None, repr=False)


class Deliverer:
    """A worker that sends what is due, by a policy."""

    def __init__(self, database: Executor, policy: DeliveryPolicy) -> None:
        self._database = database
        self._policy = policy
        self._happened = asyncio.Event()
        self._under_way: Counter[UUID] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._sender: Sender | None = None

    @property
    def networks(self) -> Sequence[IPNetwork]:
        """The private networks that endpoints may be in."""
        return self._policy.networks

    def wake(self) -> None:
        """Look for messages now."""
        self._happened.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        try:
            while True:
                try:
                    if not await self._begin():
                        await self._wait()
                except Unavailable as error:
                    log.warning("webhooks wait: %s", error)
                    await asyncio.sleep(AFTER_ERROR.total_seconds())
                except Exception:
                    # One bad message must not end all others; a taken message is due again when its lease runs out.
                    log.exception("unexpected error while delivering webhooks")
                    await asyncio.sleep(AFTER_ERROR.total_seconds())
        finally:
            for task in self._tasks:
                task.cancel()
            if self._sender is not None:
                await self._sender.close()

    async def _wait(self) -> None:
        """Wait until something happens, is due, or is done."""
        await asyncio.sleep(BETWEEN_LOOKS.total_seconds())
        due = None if self._free <= 0 else await webhooks.get_next_due(self._database, self._busy)
        longest = LONGEST_WAIT if due is None else min(due, LONGEST_WAIT)
        try:
            async with asyncio.timeout(max(longest.total_seconds(), 0)):
                await self._happened.wait()
        except TimeoutError:
            pass
        self._happened.clear()

    @property
    def _free(self) -> int:
        """The number of further messages that may be under way."""
        return AT_ONCE - self._under_way.total()

    @property
    def _busy(self) -> list[UUID]:
        """The endpoints that have as many messages under way as one may."""
        return [webhook for webhook, count in self._under_way.items() if count >= OF_EACH]

    async def _begin(self) -> bool:
        """Begin to send some due messages; return False when nothing may be sent now."""
        if self._free <= 0:
            return False
        taken = await webhooks.take(self._database, self._free, OF_EACH, LEASE, self._busy)
        for message in taken:
            self._under_way[message.webhook_id] += 1
            task = asyncio.create_task(self._deliver(self._get_sender(), message))
            self._tasks.add(task)
            task.add_done_callback(lambda done, webhook=message.webhook_id: self._note_end(done, webhook))  # type: ignore[misc]
        return bool(taken)

    def _note_end(self, task: asyncio.Task[None], webhook: UUID) -> None:
        self._tasks.discard(task)
        self._under_way[webhook] -= 1
        if not self._under_way[webhook]:
            del self._under_way[webhook]
        self.wake()
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a delivery ended unexpectedly; it is due again when its lease runs out", exc_info=error)

    def _get_sender(self) -> "Sender":
        if self._sender is None:
            # These load an HTTP client, which most processes never need.
            from app.outgoing.guard import system_lookup
            from app.webhooks.service.sending import Sender

            policy = self._policy
            self._sender = Sender(policy.networks, policy.time_limit, policy.lookup or system_lookup, policy.proxy)
        return self._sender

    async def _deliver(self, sender: "Sender", message: OutgoingMessage) -> None:
        status, error = await sender.send(message)
        delivered = status is not None and 200 <= status < 300
        told = AttemptReport(
            delivered, status, error, None if delivered else self._pause_after(message.attempts), status == STATUS_GONE
        )
        await webhooks.report(self._database, message.id, told, PATIENCE)

    def _pause_after(self, attempts: int) -> timedelta | None:
        """Return how long to wait after this many attempts; None after the last."""
        if attempts > len(self._policy.pauses):
            return None
        return self._policy.pauses[attempts - 1] * random.uniform(1 - JITTER, 1 + JITTER)
