"""Set a deployment up over its database: no one has a key for the API yet."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from getpass import getpass
from typing import Any
from uuid import uuid4

import asyncpg
from pydantic import TypeAdapter, ValidationError

from app.accounts.nouns.api_key import ApiKey
from app.accounts.nouns.team import DisplayName, Email, Password
from app.accounts.service.addresses import set_forgotten_password
from app.accounts.service.bootstrap import ensure_owner
from app.accounts.storage import addresses, people
from app.accounts.storage.people import Person
from app.domain.errors import InvalidInput, NotFound, SetupError
from app.settings import Settings
from infra.local.remote import check_schema

SETTING = "RUBRICA_WORKER_DATABASE_URL"


async def bootstrap(settings: Settings, organisation: str, email: str, with_password: bool) -> int:
    """Make an organisation, its owner and a key with all scopes; print the key.

    Raises:
        SetupError: no database is named, or it is not migrated.
        InvalidInput: the name, the e-mail address or the password cannot be used.
    """
    if settings.worker_database_url is None:
        raise SetupError(f"set {SETTING}; a stack on this machine (`rubrica up`) has its organisation and key already")
    url = settings.worker_database_url.get_secret_value()
    name, address = _check_text(DisplayName, organisation), _check_text(Email, email)
    hashed = await _hash_password() if with_password else None
    await check_schema(url, SETTING)
    key, organisation_id = ApiKey.new(), uuid4()
    connection = await asyncpg.connect(url)
    try:
        async with connection.transaction():
            known = await people.find_by_email(connection, address)
            user = known.id if known else uuid4()
            if known and hashed:
                await set_forgotten_password(connection, known, hashed, "")
            await ensure_owner(connection, key, organisation_id, user, name, address)
            if hashed and not known:
                await people.set_password(connection, user, hashed)
    finally:
        await connection.close()
    print(f"organisation  {organisation_id}\nowner         {user}\nkey           {key}", flush=True)
    return 0


async def reset_password(settings: Settings, email: str) -> int:
    """Set a person's password; it vouches for the address too. All that opened the account before ends.

    Raises:
        SetupError, InvalidInput: as `bootstrap`.
        NotFound: nobody has this address.
    """
    async with _open_account(settings, email) as (connection, person):
        hashed = await _hash_password()
        async with connection.transaction():
            await set_forgotten_password(connection, person, hashed, "")
    print(f"the password of {person.email} is set; all their sessions, keys and open invitations ended")
    return 0


async def verify_address(settings: Settings, email: str) -> int:
    """Vouch for a person's address.

    Raises:
        SetupError, InvalidInput: as `bootstrap`.
        NotFound: nobody has this address.
    """
    async with _open_account(settings, email) as (connection, person):
        await addresses.verify(connection, person.id)
    print(f"{person.email} is confirmed")
    return 0


@asynccontextmanager
async def _open_account(settings: Settings, email: str) -> AsyncIterator[tuple[asyncpg.Connection, Person]]:
    if settings.worker_database_url is None:
        raise SetupError(f"set {SETTING}; a stack on this machine (`rubrica up`) has no accounts with passwords")
    url, address = settings.worker_database_url.get_secret_value(), _check_text(Email, email)
    await check_schema(url, SETTING)
    connection = await asyncpg.connect(url)
    try:
        person = await people.find_by_email(connection, address)
        if person is None:
            raise NotFound(f"nobody has the address {address}")
        yield connection, person
    finally:
        await connection.close()


async def _hash_password() -> str:
    from app.accounts.service.passwords import Passwords

    password = getpass("Password: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\n")
    return await Passwords().hash(_check_text(Password, password))


def _check_text(kind: Any, text: str) -> str:
    adapter: TypeAdapter[str] = TypeAdapter(kind)
    try:
        return adapter.validate_python(text)
    except ValidationError as error:
        raise InvalidInput(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
