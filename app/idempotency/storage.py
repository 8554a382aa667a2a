"""The outcome of requests with an idempotency key. Every function is one statement."""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from app.database.engine import Executor, translate_outages

# A claim is taken over when it is older than its lease (its process died, or the answer could not be kept) or expired. One that
# lies as far in the future was made before the clock was set back.
CLAIM = """
    INSERT INTO idempotency_keys AS k (owner_id, key, digest) VALUES ($1, $2, $3)
    ON CONFLICT (organisation_id, owner_id, key) DO UPDATE
        SET digest = excluded.digest, claimed_at = now(), state = 'working', status = NULL, headers = NULL, body = NULL
        WHERE k.claimed_at NOT BETWEEN now() - $5::interval AND now() + $5::interval
           OR (k.state = 'working' AND k.claimed_at NOT BETWEEN now() - $4::interval AND now() + $4::interval)
    RETURNING claimed_at"""
FIND = "SELECT digest, state, status, headers, body FROM idempotency_keys WHERE owner_id = $1 AND key = $2"
KEEP = """
    UPDATE idempotency_keys SET state = $4, status = $5, headers = $6, body = $7
    WHERE owner_id = $1 AND key = $2 AND claimed_at = $3 AND state = 'working'"""
RELEASE = "DELETE FROM idempotency_keys WHERE owner_id = $1 AND key = $2 AND claimed_at = $3 AND state = 'working'"
SWEEP = "DELETE FROM idempotency_keys WHERE claimed_at < (SELECT settled_now()) - $1::interval"


class KeyRecord(NamedTuple):
    """An earlier request under a key. `state` is `working`, `answered` or, for an answer that is not kept, `unkept`."""

    digest: bytes
    state: str
    status: int | None
    headers: str | None
    body: bytes | None


async def claim(
    database: Executor, owner: UUID, key: str, digest: bytes, lease: timedelta, lifetime: timedelta
) -> datetime | None:
    """Take the key for a request; return since when it holds the key. None when another has it."""
    async with translate_outages():
        since: datetime | None = await database.fetchval(CLAIM, owner, key, digest, lease, lifetime)
    return since


async def find(database: Executor, owner: UUID, key: str) -> KeyRecord | None:
    """Return the record of the key, or None."""
    async with translate_outages():
        row = await database.fetchrow(FIND, owner, key)
    return KeyRecord(*row) if row else None


async def keep(
    database: Executor,
    owner: UUID,
    key: str,
    since: datetime,
    state: str,
    status: int | None = None,
    headers: str | None = None,
    body: bytes | None = None,
) -> None:
    """Store how the request was answered that has held the key since then."""
    async with translate_outages():
        await database.execute(KEEP, owner, key, since, state, status, headers, body)


async def release(database: Executor, owner: UUID, key: str, since: datetime) -> None:
    """Give the key back that was held since then: the request changed nothing."""
    async with translate_outages():
        await database.execute(RELEASE, owner, key, since)


async def sweep(database: Executor, lifetime: timedelta) -> None:
    """Forget what is older than `lifetime`, of every organisation."""
    async with translate_outages():
        await database.execute(SWEEP, lifetime)
