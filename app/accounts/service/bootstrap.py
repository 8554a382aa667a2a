"""Make the first organisation of a deployment, its owner and a key, before anybody can sign in."""

from uuid import UUID

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from app.accounts.nouns.access import LOCAL_ORGANISATION, LOCAL_USER, AccessScope, Role
from app.accounts.nouns.api_key import ApiKey
from app.accounts.storage import addresses
from app.accounts.storage import organisations as accounts

LOCAL_EMAIL = "you@localhost"
LOCAL_NAME = "Local"


async def ensure_owner(
    connection: asyncpg.Connection | PoolConnectionProxy,
    key: ApiKey,
    organisation: UUID = LOCAL_ORGANISATION,
    user: UUID = LOCAL_USER,
    name: str = LOCAL_NAME,
    email: str = LOCAL_EMAIL,
) -> None:
    """Make an organisation with an owner who holds `key`, where they do not exist yet. The connection is a trusted one.

    The operator vouches for the owner's address.
    """
    async with connection.transaction():
        await accounts.ensure_organisation(connection, organisation, name)
        await accounts.ensure_user(connection, user, email)
        await addresses.verify(connection, user)
        await accounts.ensure_membership(connection, organisation, user, Role.OWNER)
        await accounts.ensure_key(connection, key, organisation, user, name.lower(), AccessScope)


async def ensure_local_owner(database_url: str, key: ApiKey) -> None:
    """Make the owner that a local stack works as. `database_url` is the trusted role's."""
    connection = await asyncpg.connect(database_url)
    try:
        await ensure_owner(connection, key)
    finally:
        await connection.close()
