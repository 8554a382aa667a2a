"""The database as one organisation sees it.

The organisation travels in a context variable, from the request's authentication to the statement. Every use of the database is
a transaction that names it to PostgreSQL, whose policies do the rest. Code that forgets it sees no rows.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
from asyncpg import Record
from asyncpg.pool import PoolConnectionProxy

from app.database.engine import OUTAGES


class Tenant(NamedTuple):
    """The organisation whose rows may be seen, and the person who acts in it: with which key, from which network address."""

    organisation: UUID
    user: UUID | None = None
    key: UUID | None = None
    address: str = ""


_acting: ContextVar[Tenant | None] = ContextVar("tenant", default=None)


@contextmanager
def act_for(tenant: Tenant | None) -> Iterator[None]:
    """Let whatever uses a `TenantDatabase` in this context act for this organisation."""
    token = _acting.set(tenant)
    try:
        yield
    finally:
        _acting.reset(token)


def get_tenant() -> Tenant:
    """Return for whom this context acts.

    Raises:
        LookupError: nobody said.
    """
    tenant = _acting.get()
    if tenant is None:
        raise LookupError("this context acts for no organisation")
    return tenant


class TenantDatabase:
    """A pool whose every use is held to the organisation of the context it happens in.

    The organisation is set for one transaction only, which holds behind a pooler that shares connections, too. A statement that
    is one `SELECT` is its own transaction and takes one round trip; any other is put between a `BEGIN` and a `COMMIT`.
    A use that fails, or whose request goes away, rolls its transaction back before anybody else gets the connection.
    """

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    async def fetch(self, query: str, *args: Any) -> list[Record]:
        """Return all rows."""
        if _is_read(query):
            found: list[Record] = await self._pool.fetch(_as_tenant(query, len(args)), *args, *_tenant_arguments())
            return found
        async with self._open() as connection:
            rows: list[Record] = await connection.fetch(query, *args)
            await connection.execute("COMMIT")
        return rows

    async def fetchrow(self, query: str, *args: Any) -> Record | None:
        """Return the first row, or None."""
        if _is_read(query):
            found: Record | None = await self._pool.fetchrow(_as_tenant(query, len(args)), *args, *_tenant_arguments())
            return found
        async with self._open() as connection:
            row: Record | None = await connection.fetchrow(query, *args)
            await connection.execute("COMMIT")
        return row

    async def fetchval(self, query: str, *args: Any) -> Any:
        """Return the first row's first value, or None."""
        if _is_read(query):
            return await self._pool.fetchval(_as_tenant(query, len(args)), *args, *_tenant_arguments())
        async with self._open() as connection:
            value = await connection.fetchval(query, *args)
            await connection.execute("COMMIT")
        return value

    async def execute(self, query: str, *args: Any) -> str:
        """Run a statement, and return what was done in PostgreSQL's words."""
        async with self._open() as connection:
            done: str = await connection.execute(query, *args)
            await connection.execute("COMMIT")
        return done

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[PoolConnectionProxy]:
        """Lend a connection with one transaction open for several statements; it is committed at the end."""
        async with self._pool.acquire() as connection, connection.transaction():
            if settings := _settings():
                await connection.execute(settings)
            yield connection

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[PoolConnectionProxy]:
        """Open the transaction and name the organisation, in one round trip."""
        connection = await self._pool.acquire()
        try:
            await connection.execute(f"BEGIN; {_settings()}")
            yield connection
        except BaseException:
            # A stream whose reader went away is cancelled again at each wait until it has ended.
            await asyncio.shield(self._give_back_rolled(connection))
            raise
        await self._pool.release(connection)

    async def _give_back_rolled(self, connection: PoolConnectionProxy) -> None:
        """End what a failed or cancelled use began. Left to the pool, it would be logged as a mistake for each refused row.

        A connection that is lost has nothing to roll back: the pool opens another, and what is raised is what went wrong first.
        """
        try:
            with suppress(*OUTAGES):
                await connection.execute("ROLLBACK")
        finally:
            await self._pool.release(connection)


def _is_read(query: str) -> bool:
    """Say whether a statement can stand in the `FROM` of another: what changes rows by itself cannot."""
    return query.lstrip()[:7].rstrip().upper() == "SELECT"


def _as_tenant(query: str, args: int) -> str:
    """Return the statement with three further arguments, which name for whom it is run.

    Its rows are asked for by what names the organisation (`LATERAL`), so that they are looked at after it was named. The other
    way round there would be none, never those of another: a connection is left without a name by every transaction.
    """
    return f"""
        SELECT asked.* FROM (SELECT set_config('rubrica.organisation', ${args + 1}, true) AS organisation,
                                    set_config('rubrica.user', ${args + 2}, true), set_config('rubrica.key', ${args + 3}, true)
                             OFFSET 0) AS acting
        CROSS JOIN LATERAL (SELECT * FROM ({query}) AS own WHERE acting.organisation IS NOT NULL OFFSET 0) AS asked"""


def _tenant_arguments() -> tuple[str, str, str]:
    """Return the arguments that name for whom this context acts; they are empty for nobody."""
    tenant = _acting.get()
    if tenant is None:
        return "", "", ""
    return str(tenant.organisation), str(tenant.user or ""), str(tenant.key or "")


def _settings() -> str:
    """Return the statements that name the organisation. The values are UUIDs, so they can stand in the text."""
    tenant = _acting.get()
    if tenant is None:
        return ""
    user = f"; SET LOCAL rubrica.\"user\" = '{tenant.user}'" if tenant.user else ""
    key = f"; SET LOCAL rubrica.key = '{tenant.key}'" if tenant.key else ""
    return f"SET LOCAL rubrica.organisation = '{tenant.organisation}'{user}{key}"
