"""The holders of keys, looked up before any organisation is known. For the trusted connection."""

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from app.accounts.nouns.access import Role
from app.database.engine import Executor, translate_outages

# A key whose person has left the organisation finds no membership, and is none.
KEY = """
    SELECT k.organisation_id, k.user_id, k.secret_hash, k.scopes, m.role,
           coalesce(k.last_used_at NOT BETWEEN now() - interval '1 minute' AND now(), true) AS unnoted,
           o.requests_per_minute AS organisations, q.requests_per_minute AS keys
    FROM api_keys k JOIN memberships m ON m.organisation_id = k.organisation_id AND m.user_id = k.user_id
         LEFT JOIN quotas o ON o.organisation_id = k.organisation_id AND o.subject = k.organisation_id
         LEFT JOIN quotas q ON q.organisation_id = k.organisation_id AND q.subject = k.id
    WHERE k.id = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())"""
GOOD = """
    SELECT k.id FROM api_keys k JOIN memberships m ON m.organisation_id = k.organisation_id AND m.user_id = k.user_id
    WHERE k.id = ANY($1::uuid[]) AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())"""
ORGANISATIONS = "SELECT organisation_id FROM api_keys WHERE id = $1"
USED = "UPDATE api_keys SET last_used_at = now() WHERE id = $1"


class KeyHolder(NamedTuple):
    """What is stored of a valid key. `unnoted`: it is a minute or more since its use was written down.

    `organisations` and `keys` are the requests a minute that the organisation and the key allow; None is no limit.
    """

    organisation_id: UUID
    user_id: UUID
    secret_hash: bytes
    scopes: frozenset[str]
    role: Role
    unnoted: bool
    organisations: int | None
    keys: int | None


async def find_holder(database: Executor, key_id: UUID) -> KeyHolder | None:
    """Return the holder of a key that is neither revoked nor expired, or None."""
    async with translate_outages():
        row = await database.fetchrow(KEY, key_id)
    if row is None:
        return None
    who = (row["organisation_id"], row["user_id"], row["secret_hash"])
    return KeyHolder(*who, frozenset(row["scopes"]), Role(row["role"]), row["unnoted"], row["organisations"], row["keys"])


async def list_good(database: Executor, keys: Collection[UUID]) -> list[UUID]:
    """Return those of the keys that are neither revoked nor expired, and whose person is still a member."""
    async with translate_outages():
        return [UUID(bytes=row["id"].bytes) for row in await database.fetch(GOOD, list(keys))]


async def note_use(database: Executor, key_id: UUID) -> None:
    """Write down that a key was used just now."""
    async with translate_outages():
        await database.execute(USED, key_id)


async def list_organisations(database: Executor, key_id: UUID) -> list[UUID]:
    """Return the organisation of a key, valid or not; none where there is no such key."""
    async with translate_outages():
        return [row["organisation_id"] for row in await database.fetch(ORGANISATIONS, key_id)]
