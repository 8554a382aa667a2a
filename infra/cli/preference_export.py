"""`rubrica preferences export`: from the database of the deployment, or of this machine's stack, to a folder."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from app.domain.errors import SetupError
from app.services.preferences.pseudonyms import Pseudonyms, read_key
from app.services.preferences.training_export import Manifest
from app.services.preferences.training_export import export as write
from app.settings import PREFIX, Settings
from app.storage.engine import connect
from app.storage.migrate import upgrade
from app.storage.role_names import WORKER_ROLE
from app.storage.schema import SCHEMA_REVISION, revision_of
from infra.local.home import Home
from infra.local.lock import FileLock
from infra.local.postgres import DATABASE, LocalPostgres, running_url

KEY = "pseudonyms.key"
SETTING = PREFIX + "WORKER_DATABASE_URL"


async def export(settings: Settings, out: Path, since: datetime, comments: bool, key_file: Path | None) -> int:
    """Write the export and say what is in it.

    Raises:
        SetupError: the database or the key cannot be used.
        InvalidInput: the folder holds something.
    """
    home = Home(settings.home)
    async with _database(settings, home) as url:
        pool = await connect(url, largest=2, setting=SETTING)
        try:
            if (found := await revision_of(pool)) != SCHEMA_REVISION:
                raise SetupError(f"the database's schema is {found}, {SCHEMA_REVISION} is needed; run `rubrica migrate`")
            names = Pseudonyms(read_key(key_file or home.root / KEY))
            _tell(out, await write(pool, out, since, datetime.now(UTC), names, comments))
        finally:
            await pool.close()
    return 0


@asynccontextmanager
async def _database(settings: Settings, home: Home) -> AsyncIterator[str]:
    """The address of the worker's role, who sees all organisations. A local server that does not run is started meanwhile."""
    if settings.worker_database_url is not None:
        yield settings.worker_database_url.get_secret_value()
        return
    if settings.database_url is not None:
        raise SetupError(f"set {SETTING}: the role of {PREFIX}DATABASE_URL sees one organisation at a time")
    home.prepare()
    lock = FileLock(home.lock)
    if not lock.acquire():
        yield running_url(home.postgres, DATABASE, WORKER_ROLE)
        return
    server = LocalPostgres(home.postgres, home.log("postgres"))
    try:
        await server.start()
        await upgrade(server.url())
        yield server.url(role=WORKER_ROLE)
    finally:
        await asyncio.to_thread(server.stop)
        lock.release()


def _tell(out: Path, manifest: Manifest) -> None:
    for name, file in manifest.files.items():
        print(f"{out / name}: {file['rows']} rows")
    said = ", ".join(f"{count} {what}" for what, count in manifest.said.items())
    agreeing = manifest.consenting
    print(f"said since then: {said}; agreeing now: {agreeing['organisations']} organisations, {agreeing['people']} people")
