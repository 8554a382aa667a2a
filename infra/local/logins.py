"""Let the two roles of the product log in to a database that the settings name."""

from urllib.parse import unquote, urlsplit

import asyncpg
from pydantic import SecretStr

from app.database.role_names import API_ROLE, WORKER_ROLE
from app.database.roles import ensure_login
from app.domain.errors import SetupError
from app.settings import Settings
from infra.local.remote import DATABASE, WrongLogin, connect_to_database

WORKER_DATABASE = "RUBRICA_WORKER_DATABASE_URL"


async def ensure_logins(owner_url: str, settings: Settings) -> None:
    """Make the users in the settings' addresses, with their passwords, as members of the right role.

    A user who can log in already stays unchanged: the server's administrator may manage users by other means.

    Raises:
        SetupError: a user cannot log in, and the owner may not make that user; or the address is no database's.
    """
    users = (
        (DATABASE, settings.database_url, API_ROLE),
        (WORKER_DATABASE, settings.worker_database_url, WORKER_ROLE),
    )
    connection = await asyncpg.connect(owner_url)
    try:
        for setting, url, role in users:
            if url is not None and not await _can_log_in(url, setting):
                await _make_user(connection, url, role)
    finally:
        await connection.close()


async def _make_user(owner: asyncpg.Connection, url: SecretStr, role: str) -> None:
    parts = urlsplit(url.get_secret_value())
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    try:
        await ensure_login(owner, role, password, user)
    except asyncpg.InsufficientPrivilegeError as error:
        raise SetupError(
            f"the user {user!r} cannot log in, and the owner may not change that; as an administrator of the server, run: "
            f'ALTER ROLE "{user}" LOGIN PASSWORD ...; and, unless it is that role, GRANT {role} TO "{user}"'
        ) from error


async def _can_log_in(url: SecretStr, setting: str) -> bool:
    try:
        connection = await connect_to_database(url.get_secret_value(), setting)
    except WrongLogin:
        return False
    await connection.close()
    return True
