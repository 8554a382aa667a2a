"""Searches for words in every row of every table and every file of a home, and forges a question about them."""

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg

from infra.local.postgres import DATABASE, USER
from tests.infra.test_stack import Up


def owner_url_of(up: Up) -> str:
    """Return the database's address as its owner, by the socket that its server listens on."""
    socket = next(path for path in up.home.make_socket_folder().glob(".s.PGSQL.*") if path.suffix != ".lock")
    password = (up.home.postgres / "password").read_text()
    return f"postgresql://{USER}:{password}@/{DATABASE}?host={socket.parent}&port={socket.suffix.removeprefix('.')}"


async def find_tables_with(up: Up, needle: str) -> set[str]:
    """Return the tables in which any column of any row holds these words, in text or in bytes."""
    connection = await asyncpg.connect(owner_url_of(up))
    found = set()
    try:
        await connection.execute("SET row_security = off")
        for (table,) in await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
            rows = await connection.fetch(f"SELECT * FROM {table}")
            if any(
                needle in str(value) or (isinstance(value, bytes) and needle.encode() in value) for row in rows for value in row
            ):
                found.add(str(table))
    finally:
        await connection.close()
    return found


async def read_logged_queries(up: Up, run: UUID) -> list[str]:
    """Return the queries of a run's agents, from its log."""
    connection = await asyncpg.connect(owner_url_of(up))
    rows = await connection.fetch("SELECT payload FROM events WHERE run_id = $1 AND type = 'tool_call'", run)
    await connection.close()
    return [call["query"] for (payload,) in rows if "query" in (call := json.loads(payload))]


def find_files_with(home: Path, needle: str) -> set[str]:
    """Return the files of a home, without the database's own, that hold these words, plainly or in a packed snapshot."""
    places = [path for path in home.rglob("*") if path.is_file() and home / "postgres" not in path.parents]
    found = {path.name for path in places if needle.encode() in content_of(path)}
    with closing(sqlite3.connect(home / "retrieval" / "store.db")) as database:
        texts = [zlib.decompress(row[0]) for row in database.execute("SELECT text FROM snapshots")]
    return found | ({"snapshots"} if any(needle.encode() in text for text in texts) else set())


def content_of(path: Path) -> bytes:
    """Return a file's bytes; empty when the file is replaced meanwhile, as an index may be."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


async def forge_question(up: Up, run: UUID, index: str) -> list[Any]:
    """Ask the worker's index for a run whose stored question names another organisation's collection, as a bug might."""
    from retrieval.ports import SearchFilter
    from retrieval.search.tenant_index import TenantView
    from retrieval.service.client import IndexClient

    connection = await asyncpg.connect(owner_url_of(up))
    tenant = await connection.fetchval("SELECT organisation_id FROM runs WHERE id = $1", run)
    await connection.close()
    answers: list[Any] = []
    async with IndexClient(up.state.retrieval or "") as client_:
        for who in (str(tenant), None):
            try:
                found = await TenantView(client_, who).search("zebrawood ledger", 5, SearchFilter(collections=(index,)))
                answers += [passage.text for passage in found]
            except Exception as error:  # noqa: BLE001  (the test looks at any message)
                answers.append(str(error))
    return answers
