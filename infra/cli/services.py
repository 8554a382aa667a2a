"""`rubrica api`, `worker` and `migrate`: single services, for deployments that supervise processes themselves."""

import asyncio
import importlib
import os
import sys
from collections.abc import Sequence

from app.domain.errors import SetupError
from app.settings import PREFIX, Settings, read_settings
from infra.local.home import Home
from infra.local.logins import ensure_logins
from infra.local.postgres import LocalPostgres
from infra.local.remote import check_database

API_MODULE = "app.http.__main__"
WORKER_MODULE = "workflows.durable.worker"


def serve(module: str, options: Sequence[str]) -> int:
    """Run one service in this process, with the addresses from the environment and with its own options."""
    settings = read_settings(os.environ)
    needed = {"WORKER_DATABASE_URL": settings.worker_database_url, "TEMPORAL_ADDRESS": settings.temporal_address}
    if module == API_MODULE:
        needed = {"DATABASE_URL": settings.database_url, **needed}
    if settings.local_model is not None:
        raise SetupError("RUBRICA_LOCAL_MODEL is for `rubrica ask` and `rubrica up`; name a server with RUBRICA_LLM_BASE_URL")
    missing = [PREFIX + name for name, value in needed.items() if value is None]
    if missing:
        raise SetupError(f"a single service needs {', '.join(missing)}; `rubrica up` runs everything without any setting")
    sys.argv = [module, *options]
    code = importlib.import_module(module).main()
    return int(code or 0)


async def migrate(settings: Settings) -> int:
    """Bring the schema up to date, of the database that the settings name or of the local one, and let the two roles log in."""
    from app.database.migrate import upgrade
    from app.database.schema import SCHEMA_REVISION

    if settings.database_owner_url is not None:
        url = settings.database_owner_url.get_secret_value()
        await check_database(url, PREFIX + "DATABASE_OWNER_URL")
        await upgrade(url)
        await ensure_logins(url, settings)
    elif settings.database_url is not None:
        raise SetupError(
            "set RUBRICA_DATABASE_OWNER_URL: tables are made by their owner, whom RUBRICA_DATABASE_URL must not name"
        )
    else:
        await _migrate_local(Home(settings.home))
    print(f"the schema is at revision {SCHEMA_REVISION}")
    return 0


async def _migrate_local(home: Home) -> None:
    from app.database.migrate import upgrade
    from infra.local.lock import FileLock

    home.prepare()
    lock = FileLock(home.lock)
    if not lock.acquire():
        print("a stack is running here; it migrated its database when it started")
        return
    server = LocalPostgres(home.postgres, home.log_of("postgres"))
    try:
        await server.start()
        await upgrade(server.url_of())
    finally:
        await asyncio.to_thread(server.stop)
        lock.release()
