"""People, across organisations: for signing in. For the trusted connection."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from app.accounts.nouns.access import Role
from app.accounts.nouns.team import Organisation
from app.database.engine import Executor, translate_outages

PERSON = "id, email, name, password_hash"
BY_EMAIL = f"SELECT {PERSON} FROM users WHERE email = $1"
BY_ID = f"SELECT {PERSON} FROM users WHERE id = $1"
BY_IDENTITY = f"SELECT {PERSON} FROM users WHERE id = (SELECT user_id FROM identities WHERE issuer = $1 AND subject = $2)"
ADD = f"INSERT INTO users ({PERSON}) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING true"
LINK = "INSERT INTO identities (issuer, subject, user_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING true"
SET_PASSWORD = "UPDATE users SET password_hash = $2 WHERE id = $1"
FORGET_PASSWORD = "UPDATE users SET password_hash = NULL WHERE id = $1"
ORGANISATIONS = """
    SELECT o.id, o.name, m.role FROM memberships m JOIN organisations o ON o.id = m.organisation_id
    WHERE m.user_id = $1 ORDER BY m.joined_at, o.id"""


class Person(NamedTuple):
    """Somebody who can sign in. `password_hash` is None for who only comes by an identity provider."""

    id: UUID
    email: str
    name: str
    password_hash: str | None


async def find_by_email(database: Executor, email: str) -> Person | None:
    """Return the person of an address, in lower case."""
    return await _find_person(database, BY_EMAIL, email)


async def find_by_id(database: Executor, user: UUID) -> Person | None:
    """Return the person, or None."""
    return await _find_person(database, BY_ID, user)


async def find_by_identity(database: Executor, issuer: str, subject: str) -> Person | None:
    """Return the person whom an identity provider knows as `subject`, or None."""
    return await _find_person(database, BY_IDENTITY, issuer, subject)


async def add(database: Executor, person: Person) -> bool:
    """Add a person; False when somebody has the address already."""
    async with translate_outages():
        return bool(await database.fetchval(ADD, *person))


async def link(database: Executor, issuer: str, subject: str, user: UUID) -> bool:
    """Remember who a person is to an identity provider; False when that was known."""
    async with translate_outages():
        return bool(await database.fetchval(LINK, issuer, subject, user))


async def set_password(database: Executor, user: UUID, password_hash: str) -> None:
    """Replace a password's hash."""
    async with translate_outages():
        await database.execute(SET_PASSWORD, user, password_hash)


async def remove_password(database: Executor, user: UUID) -> None:
    """Take a person's password away."""
    async with translate_outages():
        await database.execute(FORGET_PASSWORD, user)


async def list_organisations(database: Executor, user: UUID) -> Sequence[Organisation]:
    """List the organisations of a person, first joined first."""
    async with translate_outages():
        rows = await database.fetch(ORGANISATIONS, user)
    return [Organisation(id=row["id"], name=row["name"], role=Role(row["role"])) for row in rows]


async def _find_person(database: Executor, query: str, *args: object) -> Person | None:
    async with translate_outages():
        row = await database.fetchrow(query, *args)
    return Person(*row) if row else None
