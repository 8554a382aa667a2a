"""The organisation that tests work as by default, and the database's roles."""

from urllib.parse import urlsplit
from uuid import UUID

import asyncpg

from app.accounts.nouns.access import LOCAL_ORGANISATION, LOCAL_USER
from app.accounts.nouns.api_key import ApiKey
from app.database.role_names import API_ROLE, WORKER_ROLE
from infra.local.postgres import USER, LocalPostgres

# An owner's key that every migrated test database knows.
HOME_KEY = ApiKey(UUID("00000000-0000-4000-8000-00000000000a"), "home-key-of-the-tests")
HOME_HEADERS = {"Authorization": f"Bearer {HOME_KEY}"}


async def act_as_home(server: LocalPostgres) -> None:
    """Make everything that tests insert as the owner, to whom no policy applies, belong to the home organisation."""
    connection = await asyncpg.connect(server.url_of())
    try:
        await connection.execute(f"ALTER ROLE {USER} SET rubrica.key = '{HOME_KEY.id}'")
        await connection.execute(f"ALTER ROLE {USER} SET rubrica.organisation = '{LOCAL_ORGANISATION}'")
        await connection.execute(f"ALTER ROLE {USER} SET rubrica.\"user\" = '{LOCAL_USER}'")
    finally:
        await connection.close()


def role_urls(server: LocalPostgres, owner_url: str) -> tuple[str, str]:
    """Return the owner's database as the API's role and as the worker's."""
    database = urlsplit(owner_url).path.strip("/")
    return server.url_of(database, API_ROLE), server.url_of(database, WORKER_ROLE)
