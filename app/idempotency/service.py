"""Carry out a request once that is sent twice: the first answer is stored under its key and given again."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import orjson

from app.database.engine import Executor
from app.database.tenancy import Tenant, act_for, get_tenant
from app.domain.errors import Conflict, InProgress, KeyReused, Unavailable
from app.idempotency import storage as idempotency

LIFETIME = timedelta(hours=24)
# Requests that wait for a whole report take long. A key whose process died is free again after this time.
LEASE = timedelta(hours=1)
SETTLE_EVERY = timedelta(seconds=2)
log = logging.getLogger(__name__)


class IdempotentAnswer(NamedTuple):
    """A response as it was sent; headers are pairs of name and value."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


class KeyClaim(NamedTuple):
    """A key with its request: who sends it, under which key, and a digest of the whole request."""

    owner: UUID
    key: str
    digest: bytes


class HeldKey(NamedTuple):
    """A key that a request holds while it is carried out, and since when: whoever takes the key over holds it since later."""

    owner: UUID
    key: str
    since: datetime


class Settlement(NamedTuple):
    """The end of a held key: the answer to keep, none when it is not kept; or, when `released`, that the key is free again."""

    tenant: Tenant
    held: HeldKey
    answer: IdempotentAnswer | None = None
    released: bool = False


class IdempotencyKeys:
    """The use cases of idempotency keys. A key belongs to a person, and is forgotten after a day."""

    def __init__(self, database: Executor) -> None:
        self._database = database
        self._unsettled: list[Settlement] = []

    async def begin(self, claim: KeyClaim) -> IdempotentAnswer | HeldKey:
        """Return the stored answer; or the key, for a request to carry out now, which is then answered or released.

        Raises:
            KeyReused: the key was sent with another request.
            InProgress: the same request is being answered just now.
            Conflict: it was answered, but the answer is not kept: it was too large, or a failure that left open what was done.
        """
        since = await idempotency.claim(self._database, *claim, LEASE, LIFETIME)
        if since is not None:
            return HeldKey(claim.owner, claim.key, since)
        found = await idempotency.find(self._database, claim.owner, claim.key)
        if found is None or (found.digest == claim.digest and found.state == "working"):
            raise InProgress("a request with this Idempotency-Key is being answered; repeat it in a moment")
        if found.digest != claim.digest:
            raise KeyReused("this Idempotency-Key was sent with another request; take a new key for a new request")
        if found.status is None or found.headers is None or found.body is None:
            raise Conflict(
                "this request was carried out, or failed half-way, and its answer is not kept; look for what it made, "
                "and repeat it under a new key only if there is nothing"
            )
        return IdempotentAnswer(found.status, [(name, value) for name, value in orjson.loads(found.headers)], found.body)

    async def store_answer(self, held: HeldKey, answer: IdempotentAnswer | None) -> None:
        """Store the answer; without one, store only that the request was carried out, or may have been."""
        await self._settle(Settlement(get_tenant(), held, answer))

    async def release(self, held: HeldKey) -> None:
        """Free the key, since the request was refused: it may be sent again."""
        await self._settle(Settlement(get_tenant(), held, released=True))

    async def keep_settling(self) -> None:
        """Write, at regular intervals, what an outage kept from being written: repetitions would be told to wait for a lease."""
        while True:
            await asyncio.sleep(SETTLE_EVERY.total_seconds())
            for _ in range(len(self._unsettled)):
                settlement = self._unsettled.pop(0)
                with act_for(settlement.tenant):
                    await self._settle(settlement)

    async def _settle(self, settlement: Settlement) -> None:
        """End a held key now or, in an outage, later."""
        try:
            await self._write(settlement)
        except Unavailable as error:
            log.warning("the outcome of a request with an Idempotency-Key is stored later: %s", error)
            self._unsettled.append(settlement)

    async def _write(self, settlement: Settlement) -> None:
        held, answer = settlement.held, settlement.answer
        if settlement.released:
            await idempotency.release(self._database, *held)
        elif answer is None:
            await idempotency.keep(self._database, *held, "unkept")
        else:
            headers = orjson.dumps(answer.headers).decode()
            await idempotency.keep(self._database, *held, "answered", answer.status, headers, answer.body)
