"""A request that is sent twice is carried out once: the first answer is kept under its key and given again."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

import orjson

from app.database.engine import Executor
from app.domain.errors import InProgress, KeyReused
from app.idempotency import storage as idempotency
from app.idempotency.storage import Kept

LIFETIME = timedelta(hours=24)
# Requests that wait for a whole report take long. A key whose process died is free again after this time.
LEASE = timedelta(hours=1)


class Answer(NamedTuple):
    """A response as it went out; headers are pairs of name and value."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


class Claim(NamedTuple):
    """A key with the request that it stands for: who sends it, under which key, and a digest of all that it says."""

    owner: UUID
    key: str
    digest: bytes


class IdempotencyKeys:
    """Keys are a person's own, and forgotten after a day."""

    def __init__(self, database: Executor) -> None:
        self._database = database

    async def begin(self, claim: Claim) -> Answer | None:
        """The answer that was given already; None for a request that is now to be carried out, and then kept or released.

        Raises:
            KeyReused: the key was sent with another request.
            InProgress: the same request is being answered just now, or its answer was too large to be kept.
        """
        if await idempotency.claim(self._database, *claim, LEASE, LIFETIME):
            return None
        found = await idempotency.find(self._database, claim.owner, claim.key)
        if found is None or (found.digest == claim.digest and found.state == "working"):
            raise InProgress("a request with this Idempotency-Key is being answered; repeat it in a moment")
        if found.digest != claim.digest:
            raise KeyReused("this Idempotency-Key was sent with another request; take a new key for a new request")
        if found.status is None or found.headers is None or found.body is None:
            raise InProgress("this request was carried out, but its answer is not kept; look for what it made, do not repeat it")
        return Answer(found.status, [(name, value) for name, value in orjson.loads(found.headers)], found.body)

    async def answered(self, claim: Claim, answer: Answer | None) -> None:
        """Keep the answer; without one, only that there was one."""
        if answer is None:
            kept = Kept(claim.digest, "unkept", None, None, None)
        else:
            kept = Kept(claim.digest, "answered", answer.status, orjson.dumps(answer.headers).decode(), answer.body)
        await idempotency.keep(self._database, claim.owner, claim.key, kept)

    async def release(self, claim: Claim) -> None:
        """The request was refused: it may be sent again."""
        await idempotency.release(self._database, *claim)
