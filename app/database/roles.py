"""The two roles that the product connects as, neither of which owns a table.

The API's sees the rows of one organisation, by row-level security. The worker's is trusted with all of them: it works on the runs
of every organisation. The migrations make both roles; the operator of the database gives them a login.
"""

import hashlib
import hmac
import os
from base64 import b64encode

import asyncpg

from app.database.engine import Executor
from app.database.role_names import API_ROLE, WORKER_ROLE
from app.domain.errors import SetupError

ITERATIONS = 4_096

# Two databases of one server may be migrated at the same moment.
ENSURE_ROLE = """
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN
        CREATE ROLE {role} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$"""
ENSURE_USER = """
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {literal}) THEN
        CREATE ROLE {name} NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS;
        GRANT {role} TO {name};
    END IF;
END $$"""
POWERS = f"""
    SELECT current_user AS name, rolsuper, rolbypassrls, pg_has_role('{API_ROLE}', 'MEMBER') AS is_api,
           pg_has_role('{WORKER_ROLE}', 'MEMBER') AS is_worker,
           EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
                   AND pg_has_role(relowner, 'MEMBER')) AS owns
    FROM pg_roles WHERE rolname = current_user"""


async def ensure_login(administrator: asyncpg.Connection, role: str, password: str, user: str | None = None) -> None:
    """Let `user` (default: the role itself) log in as a member of `role`. Only the verifier of its password reaches the server.

    Raises:
        PostgresError: the administrator may not make roles.
    """
    await administrator.execute(ENSURE_ROLE.format(role=role))
    name = await administrator.fetchval("SELECT quote_ident($1)", user or role)
    if user not in (None, role):
        literal = await administrator.fetchval("SELECT quote_literal($1)", user)
        await administrator.execute(ENSURE_USER.format(literal=literal, name=name, role=role))
    await administrator.execute(f"ALTER ROLE {name} LOGIN PASSWORD '{make_verifier(password)}'")


def make_verifier(password: str) -> str:
    """Return what PostgreSQL stores for a password (RFC 5803): the password itself must stand in no statement and in no log."""
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)
    client, server = (hmac.digest(salted, word, "sha256") for word in (b"Client Key", b"Server Key"))
    stored, sent = (b64encode(key).decode() for key in (hashlib.sha256(client).digest(), server))
    return f"SCRAM-SHA-256${ITERATIONS}:{b64encode(salt).decode()}${stored}:{sent}"


async def refuse_bypass(database: Executor) -> None:
    """Check that this connection is held to one organisation's rows.

    Raises:
        SetupError: its role could read them all; the message names another.
    """
    powers = await database.fetchrow(POWERS)
    assert powers is not None
    reasons = {
        "is a superuser": powers["rolsuper"],
        "bypasses row-level security": powers["rolbypassrls"],
        "owns the tables": powers["owns"],
        f"is a member of {WORKER_ROLE}": powers["is_worker"],
        f"is no member of {API_ROLE}": not powers["is_api"],
    }
    if reason := next((reason for reason, holds in reasons.items() if holds), None):
        raise SetupError(
            f"RUBRICA_DATABASE_URL names the role {powers['name']!r}, which {reason}: requests of one organisation must not be "
            f"able to reach another's rows. Name {API_ROLE} there (`rubrica migrate` makes it; docs/settings.md)"
        )
