"""Makes a home of today's version, which later versions are tested to bring up to date: one for each release (docs/schema.md).

    python -m tests.migrations.make_home

It runs the real product with the tests' model, and writes what is left into `homes/<revision>`: the database as the text of
`COPY`, the documents, the index's store without the default corpus. It refuses to leave a table empty.
"""

import asyncio
import io
import shutil
import signal
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import asyncpg

from app.database.schema import SCHEMA_REVISION
from app.private_file import write_private_file
from app.settings import read_settings
from infra.local.home import Home
from infra.local.postgres import LocalPostgres
from retrieval.search.library import DEFAULT_COLLECTION
from tests.app.accounts.identity_provider import CLIENT, SECRET, serve_provider
from tests.app.webhook_receiver import serve_receiver
from tests.infra.harbour import serve_letterbox
from tests.infra.test_stack import Up
from tests.migrations.home_tour import FOUND_ON_THE_WEB, World, live_through
from tests.migrations.old_home import BYTES, HOMES, IN_HOME
from tests.support.accounts import HOME_KEY
from tests.support.model_stub import MODEL, ModelStub, serve_model_stub
from tests.support.model_stub_script import RunShape
from tests.support.outside_stub import answer_with, serve_outside

SMALL = RunShape(subtasks=2, turns=2, searches=2, sections=2)
TABLES = """
    SELECT c.relname, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'alembic_version'
    GROUP BY c.relname ORDER BY c.relname"""


async def make_home(folder: Path) -> None:
    """Live in a home in `folder`, then write what is left of it."""
    home = Home(folder / "home")
    home.prepare()
    write_private_file(home.key, f"{HOME_KEY}\n")
    async with start_world(folder) as world:
        await live_through(world)
    target = HOMES / SCHEMA_REVISION
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    server = LocalPostgres(home.postgres, home.log_of("postgres"))
    await server.start()
    try:
        (target / "database.sql").write_bytes(await dump_database(server.url_of()))
    finally:
        server.stop()
    shutil.copytree(home.root / "documents", target / "documents", ignore=shutil.ignore_patterns(".*"))
    store = dump_store(home.root / "retrieval" / "store.db")
    (target / "store.sql").write_text(store.replace(str(home.root), IN_HOME))


@asynccontextmanager
async def start_world(folder: Path) -> AsyncIterator[World]:
    """Run the product, and around it a model, a letterbox, an identity provider, a search engine and a customer's endpoint."""
    async with (
        serve_model_stub(ModelStub(shape=SMALL)) as model,
        serve_provider() as provider,
        serve_outside(answer_with(FOUND_ON_THE_WEB)) as web,
        serve_receiver() as endpoint,
    ):
        with serve_letterbox() as letterbox:
            settings = {
                "RUBRICA_LLM_BASE_URL": model.base_url,
                "RUBRICA_LLM_MODEL": MODEL,
                "RUBRICA_LLM_INPUT_PRICE": "1",
                "RUBRICA_LLM_OUTPUT_PRICE": "2",
                "RUBRICA_SMTP_HOST": "127.0.0.1",
                "RUBRICA_SMTP_PORT": str(letterbox.port),
                "RUBRICA_SMTP_SECURITY": "none",
                "RUBRICA_SMTP_FROM": "Rubrica <living@rubrica.example>",
                "RUBRICA_PUBLIC_URL": "https://rubrica.example",
                "RUBRICA_WEBHOOK_NETWORKS": "127.0.0.0/8",
                "RUBRICA_OIDC_ISSUER": provider.issuer,
                "RUBRICA_OIDC_CLIENT_ID": CLIENT,
                "RUBRICA_OIDC_CLIENT_SECRET": SECRET,
                "RUBRICA_SEARXNG_URL": web.url,
            }
            up = Up(folder / "home", **settings)
            try:
                await up.ready()
                known = read_settings(settings | {"RUBRICA_HOME": str(up.home.root)})
                yield World(up.state.api, known, model, letterbox.handler.mails, provider, f"{endpoint.url}/hook", folder)
            finally:
                await asyncio.to_thread(up.end, signal.SIGTERM)


async def dump_database(url: str) -> bytes:
    """Return every row of every table, as `COPY` reads it.

    Raises:
        SystemExit: a table has no row.
    """
    connection = await asyncpg.connect(url, server_settings=BYTES)
    parts, empty = list[bytes](), list[str]()
    for table, columns in await connection.fetch(TABLES):
        rows = io.BytesIO()
        await connection.copy_from_query(f"SELECT {columns} FROM {table} t ORDER BY t::text", output=rows)
        parts.append(f"COPY {table} ({columns}) FROM stdin;\n".encode() + rows.getvalue() + b"\\.\n")
        if not rows.getvalue():
            empty.append(table)
    await connection.close()
    if empty:
        raise SystemExit(f"no row in {', '.join(empty)}: let tests/migrations/home_tour.py do what leaves one")
    return b"\n".join(parts)


def dump_store(path: Path) -> str:
    """Return the store of retrieval as SQL, without the default corpus, which every start brings."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "store.db"
        with closing(sqlite3.connect(path)) as found, closing(sqlite3.connect(copy)) as left:
            found.backup(left)
            for table in ("documents", "unreadable", "generations", "builds"):
                left.execute(f"DELETE FROM {table} WHERE collection = ?", [DEFAULT_COLLECTION])
            left.execute("DELETE FROM collections WHERE name = ?", [DEFAULT_COLLECTION])
            left.execute("DELETE FROM snapshots WHERE hash NOT IN (SELECT snapshot FROM documents)")
            left.commit()
            return "\n".join(left.iterdump()) + "\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="rubrica-home-") as made:
        asyncio.run(make_home(Path(made)))
