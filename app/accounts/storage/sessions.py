"""Browsers that are signed in. For the trusted connection. Tokens are known by their hashes."""

from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from app.accounts.nouns.access import Role
from app.database.engine import Executor, translate_outages

OPEN = """
    INSERT INTO sessions (token_hash, organisation_id, user_id, expires_at, address)
    VALUES ($1, $2, $3, now() + $4::interval, $5)"""
HOLDER = """
    SELECT s.organisation_id, s.user_id, m.role, s.seen_at < now() - interval '1 minute' AS unnoted, o.requests_per_minute
    FROM sessions s JOIN memberships m ON m.organisation_id = s.organisation_id AND m.user_id = s.user_id
         LEFT JOIN quotas o ON o.organisation_id = s.organisation_id AND o.subject = s.organisation_id
    WHERE s.token_hash = $1 AND s.expires_at > now() AND s.seen_at > now() - $2::interval"""
GOOD = """
    SELECT s.token_hash FROM sessions s
         JOIN memberships m ON m.organisation_id = s.organisation_id AND m.user_id = s.user_id
    WHERE s.token_hash = ANY($1::bytea[]) AND s.expires_at > now()"""
BEGAN = """
    SELECT EXISTS (SELECT FROM sessions WHERE token_hash = $1 AND user_id = $2 AND expires_at > now()
                   AND created_at > now() - $3::interval)"""
SEEN = "UPDATE sessions SET seen_at = now() WHERE token_hash = $1"
# An open page keeps the token that it was opened with, so the old one goes on beside the new one until the session ends.
RENEW = """
    WITH old AS (UPDATE sessions SET renewed_at = now() WHERE token_hash = $1 AND renewed_at < now() - $3::interval
                 AND expires_at > now() RETURNING organisation_id, user_id, created_at, expires_at, address)
    INSERT INTO sessions (token_hash, organisation_id, user_id, created_at, expires_at, address)
    SELECT $2, organisation_id, user_id, created_at, expires_at, address FROM old RETURNING true"""
# The tokens of one session, which began at the same moment.
TOKENS = """
    SELECT t.token_hash FROM sessions s JOIN sessions t USING (user_id, organisation_id, created_at) WHERE s.token_hash = $1"""
CLOSE = f"DELETE FROM sessions WHERE token_hash IN ({TOKENS})"
# A statement sees no token that an exchange under way makes; once this one holds the old token, the next statement does.
HOLD = f"{TOKENS} ORDER BY 1 FOR UPDATE OF t"
FORGET = "DELETE FROM sessions WHERE expires_at < now() OR seen_at < now() - $1::interval"


class SessionHolder(NamedTuple):
    """Whose session it is. `unnoted`: it was last seen a minute or more ago; `organisations`: requests a minute it allows."""

    organisation_id: UUID
    user_id: UUID
    role: Role
    unnoted: bool
    organisations: int | None


async def open_(database: Executor, token_hash: bytes, organisation: UUID, user: UUID, lifetime: timedelta, address: str) -> None:
    """Remember a browser, and the network address that it signs in from."""
    async with translate_outages():
        await database.execute(OPEN, token_hash, organisation, user, lifetime, address)


async def find_holder(database: Executor, token_hash: bytes, idle: timedelta) -> SessionHolder | None:
    """Return the holder of a token; None when it has expired or was not used for `idle`."""
    async with translate_outages():
        row = await database.fetchrow(HOLDER, token_hash, idle)
    return SessionHolder(row[0], row[1], Role(row[2]), row[3], row[4]) if row else None


async def list_good(database: Executor, token_hashes: Collection[bytes]) -> list[bytes]:
    """Return those of the tokens whose browser is still signed in."""
    async with translate_outages():
        return [row["token_hash"] for row in await database.fetch(GOOD, list(token_hashes))]


async def is_recent(database: Executor, token_hash: bytes, user: UUID, time: timedelta) -> bool:
    """Say whether this is a session of this person that began less than `time` ago."""
    async with translate_outages():
        return bool(await database.fetchval(BEGAN, token_hash, user, time))


async def note_seen(database: Executor, token_hash: bytes) -> None:
    """Note that a session was used just now."""
    async with translate_outages():
        await database.execute(SEEN, token_hash)


async def renew(database: Executor, old: bytes, new: bytes, renewal: timedelta) -> bool:
    """Make a new token beside one that is older than `renewal`. False when it is younger, or was exchanged since."""
    async with translate_outages():
        return bool(await database.fetchval(RENEW, old, new, renewal))


async def close(database: Executor, token_hash: bytes) -> None:
    """Sign a browser out, with every token of its session. For a transaction."""
    async with translate_outages():
        await database.execute(HOLD, token_hash)
        await database.execute(CLOSE, token_hash)


async def forget(database: Executor, idle: timedelta) -> None:
    """Remove what has ended by itself."""
    async with translate_outages():
        await database.execute(FORGET, idle)
