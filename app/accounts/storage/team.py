"""The members of the organisation that `database` acts for, their keys, and invitations to it."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from asyncpg import Record

from app.accounts.nouns.access import AccessScope, Role
from app.accounts.nouns.api_key import ApiKey
from app.accounts.nouns.team import Invitation, KeyInfo, Member
from app.database.engine import Executor, translate_outages
from app.database.noun_columns import columns_of

# A cursor names the last one that was seen, by whom nobody is shown twice or left out when others join or leave.
MEMBERS = """
    SELECT u.id AS user_id, u.email, u.name, m.role, m.joined_at, u.verified_at IS NOT NULL AS verified
    FROM memberships m JOIN users u ON u.id = m.user_id
    WHERE $2::uuid IS NULL OR (m.joined_at, m.user_id) < (SELECT b.joined_at, b.user_id FROM memberships b WHERE b.user_id = $2)
    ORDER BY m.joined_at DESC, m.user_id DESC LIMIT $1"""
# Whoever changes owners takes these rows first, so that two cannot each leave the other as the last.
OWNERS = "SELECT user_id FROM memberships WHERE role = 'owner' ORDER BY user_id FOR UPDATE"
ROLE = "SELECT role FROM memberships WHERE user_id = $1 FOR UPDATE"
SET_ROLE = "UPDATE memberships SET role = $2 WHERE user_id = $1"
# Who is no member could no longer take their consent to training back, so it ends.
REMOVE = """
    WITH taken_back AS (DELETE FROM person_consents WHERE user_id = $1)
    DELETE FROM memberships WHERE user_id = $1"""
INVITE = f"""
    INSERT INTO invitations (id, email, role, token_hash, invited_by, expires_at)
    VALUES ($1, $2, $3, $4, $5, now() + $6::interval) RETURNING {columns_of(Invitation)}"""
INVITATIONS = f"""
    SELECT {columns_of(Invitation)} FROM invitations WHERE expires_at > now()
    ORDER BY created_at DESC, id"""
WITHDRAW = "DELETE FROM invitations WHERE id = $1 RETURNING email"
WITHDRAW_BY = "DELETE FROM invitations WHERE invited_by = $1"
WITHDRAW_FOR = "DELETE FROM invitations WHERE email = $1"
IS_MEMBER = "SELECT true FROM users WHERE email = $1"
KEYS = f"""
    SELECT {columns_of(KeyInfo)} FROM api_keys WHERE revoked_at IS NULL AND ($1::uuid IS NULL OR user_id = $1)
    ORDER BY created_at DESC, id"""
ADD_KEY = f"""
    INSERT INTO api_keys (id, user_id, name, secret_hash, scopes, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
    RETURNING {columns_of(KeyInfo)}"""
# Whoever revokes the key waits until the one that it makes is stored, and revokes that one too.
MAKER = "SELECT expires_at FROM api_keys WHERE id = $1 AND revoked_at IS NULL FOR SHARE"
REVOKE = """
    WITH RECURSIVE ended (id) AS (
        SELECT id FROM api_keys WHERE id = $1 AND ($2::uuid IS NULL OR user_id = $2)
        UNION SELECT k.id FROM api_keys k JOIN ended ON k.made_by = ended.id)
    UPDATE api_keys k SET revoked_at = now() FROM ended WHERE k.id = ended.id AND k.revoked_at IS NULL RETURNING k.id, k.name"""


class MakerKey(NamedTuple):
    """A key that makes another: `expires_at` is its own end, None for never."""

    expires_at: datetime | None


async def list_members(database: Executor, limit: int, before: UUID | None = None) -> Sequence[Member]:
    """List up to `limit` people of the organisation, newest first, who joined before the one named."""
    async with translate_outages():
        return [Member(**dict(row)) for row in await database.fetch(MEMBERS, limit, before)]


async def list_owners(database: Executor) -> set[UUID]:
    """Return the owners, held until the transaction ends."""
    async with translate_outages():
        return {row["user_id"] for row in await database.fetch(OWNERS)}


async def role_of(database: Executor, user: UUID) -> Role | None:
    """Return a member's role, held until the transaction ends; None for somebody who is no member."""
    async with translate_outages():
        found: str | None = await database.fetchval(ROLE, user)
    return Role(found) if found else None


async def set_role(database: Executor, user: UUID, role: Role) -> None:
    """Change a member's role."""
    async with translate_outages():
        await database.execute(SET_ROLE, user, role)


async def remove(database: Executor, user: UUID) -> None:
    """Remove a member; their keys, sessions and consent to training here go with them."""
    async with translate_outages():
        await database.execute(REMOVE, user)


async def is_member(database: Executor, email: str) -> bool:
    """Say whether somebody with this address is in the organisation."""
    async with translate_outages():
        return bool(await database.fetchval(IS_MEMBER, email))


async def invite(
    database: Executor, invitation: UUID, email: str, role: Role, token_hash: bytes, by: UUID, valid: timedelta
) -> Invitation:
    """Keep an invitation."""
    async with translate_outages():
        row = await database.fetchrow(INVITE, invitation, email, role, token_hash, by, valid)
    assert row is not None
    return Invitation(**dict(row))


async def list_invitations(database: Executor) -> Sequence[Invitation]:
    """List the invitations that can still be accepted, newest first."""
    async with translate_outages():
        return [Invitation(**dict(row)) for row in await database.fetch(INVITATIONS)]


async def withdraw(database: Executor, invitation: UUID) -> str | None:
    """Take an invitation back. Return its address, or None when there is none."""
    async with translate_outages():
        email: str | None = await database.fetchval(WITHDRAW, invitation)
    return email


async def withdraw_for(database: Executor, email: str) -> None:
    """Take back what an address was invited to before."""
    async with translate_outages():
        await database.execute(WITHDRAW_FOR, email)


async def withdraw_by(database: Executor, user: UUID) -> None:
    """Take back the invitations that a member made."""
    async with translate_outages():
        await database.execute(WITHDRAW_BY, user)


async def list_keys(database: Executor, user: UUID | None = None) -> Sequence[KeyInfo]:
    """Return the organisation's keys that are not revoked, or one person's of them, newest first."""
    async with translate_outages():
        return [_key_of(row) for row in await database.fetch(KEYS, user)]


async def add_key(
    database: Executor, key: ApiKey, user: UUID, name: str, scopes: Iterable[AccessScope], expires_at: datetime | None
) -> KeyInfo:
    """Keep a member's new key."""
    names = sorted(scope.value for scope in scopes)
    async with translate_outages():
        row = await database.fetchrow(ADD_KEY, key.id, user, name, key.digest, names, expires_at)
    assert row is not None
    return _key_of(row)


async def hold_maker(database: Executor, key: UUID) -> MakerKey | None:
    """Return a key that makes another, and hold it until the transaction ends; None when it was revoked meanwhile."""
    async with translate_outages():
        row = await database.fetchrow(MAKER, key)
    return MakerKey(*row) if row else None


async def revoke(database: Executor, key: UUID, user: UUID | None = None) -> dict[UUID, str]:
    """End a key and those that it made, and so on; return the names of those that ended. None ends that is not the `user`'s.

    A key that was being made while the statement began is in no row that it saw, so it is repeated until nothing is left.
    """
    ended: dict[UUID, str] = {}
    async with translate_outages():
        while rows := await database.fetch(REVOKE, key, user):
            ended |= {row["id"]: row["name"] for row in rows}
    return ended


def _key_of(row: Record) -> KeyInfo:
    known = {scope.value for scope in AccessScope}
    return KeyInfo(**(dict(row) | {"scopes": [scope for scope in row["scopes"] if scope in known]}))
