"""Organisations, people and their keys. Every function is one statement."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from app.accounts.nouns.access import AccessScope, Role
from app.accounts.nouns.api_key import ApiKey
from app.database.engine import Executor, translate_outages

ORGANISATION = "INSERT INTO organisations (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING"
USER = "INSERT INTO users (id, email) VALUES ($1, $2) ON CONFLICT DO NOTHING"
MEMBERSHIP = "INSERT INTO memberships (organisation_id, user_id, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
MEMBER_ADDRESSES = """
    SELECT u.email FROM users u JOIN memberships m ON m.user_id = u.id
    WHERE u.email = ANY ($1::text[]) AND m.organisation_id = current_organisation() AND u.verified_at IS NOT NULL"""
EXISTS = "SELECT EXISTS (SELECT FROM organisations WHERE id = $1)"
KEY = """
    INSERT INTO api_keys (id, organisation_id, user_id, name, secret_hash, scopes) VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT DO NOTHING"""


async def ensure_organisation(database: Executor, organisation: UUID, name: str) -> None:
    """Add an organisation unless it is there."""
    async with translate_outages():
        await database.execute(ORGANISATION, organisation, name)


async def ensure_user(database: Executor, user: UUID, email: str) -> None:
    """Add a person, who has no password, unless they are there."""
    async with translate_outages():
        await database.execute(USER, user, email)


async def ensure_membership(database: Executor, organisation: UUID, user: UUID, role: Role) -> None:
    """Make a person a member, unless they are one."""
    async with translate_outages():
        await database.execute(MEMBERSHIP, organisation, user, role)


async def ensure_key(
    database: Executor, key: ApiKey, organisation: UUID, user: UUID, name: str, scopes: Iterable[AccessScope]
) -> None:
    """Keep a member's key, unless it is there."""
    async with translate_outages():
        await database.execute(KEY, key.id, organisation, user, name, key.digest, [scope.value for scope in scopes])


async def find_member_addresses(database: Executor, addresses: Sequence[str]) -> frozenset[str]:
    """Return those of these e-mail addresses that members of the organisation that is acted for have proved to be theirs."""
    async with translate_outages():
        return frozenset(row["email"] for row in await database.fetch(MEMBER_ADDRESSES, list(addresses)))


async def exists(database: Executor, organisation: UUID) -> bool:
    """Say whether there is this organisation."""
    async with translate_outages():
        return bool(await database.fetchval(EXISTS, organisation))
