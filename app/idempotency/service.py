"""Carry out a request once that is sent twice: the first answer is stored under its key and given again."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

import orjson

from app.database.engine import Executor
from app.domain.errors import Conflict, InProgress, KeyReused
from app.idempotency import storage as idempotency
from app.idempotency.storage import KeyRecord

LIFETIME = timedelta(hours=24)
# Requests that wait for a whole report take long. A key whose process died is free again after this time.
LEASE = timedelta(hours=1)


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


class IdempotencyKeys:
    """The use cases of idempotency keys. A key belongs to a person, and is forgotten after a day."""

    def __init__(self, database: Executor) -> None:
        self._database = database

    async def begin(self, claim: KeyClaim) -> IdempotentAnswer | None:
        """Return the stored answer; None for a request to carry out now, whose key is then answered or released.

        Raises:
            KeyReused: the key was sent with another request.
            InProgress: the same request is being answered just now.
            Conflict: it was answered, but the answer is not kept: it was too large, or a failure that left open what was done.
        """
        if await idempotency.claim(self._database, *claim, LEASE, LIFETIME):
            return None
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

    async def store_answer(self, claim: KeyClaim, answer: IdempotentAnswer | None) -> None:
        """Store the answer; without one, store only that the request was carried out, or may have been."""
        if answer is None:
            kept = KeyRecord(claim.digest, "unkept", None, None, None)
        else:
            kept = KeyRecord(claim.digest, "answered", answer.status, orjson.dumps(answer.headers).decode(), answer.body)
        await idempotency.keep(self._database, claim.owner, claim.key, kept)

    async def release(self, claim: KeyClaim) -> None:
        """Free the key, since the request was refused: it may be sent again."""
        await idempotency.release(self._database, *claim)
