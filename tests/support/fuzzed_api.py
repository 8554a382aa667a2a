"""`python -m tests.support.fuzzed_api FOLDER`: serve the API on a real PostgreSQL, for a fuzzer.

It prints its address and a key, and ends with its standard input.

Runs are not researched: each comes to a report, or to its end, within a second, so that no stream of events stays open for ever.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID

import asyncpg
from aiohttp import web

from app.accounts.service.bootstrap import ensure_local_owner
from app.database.engine import connect
from app.database.migrate import upgrade
from app.domain.contract import ResearchInput
from app.domain.run import RunStatus
from app.http.asgi import create_app
from app.http.server import Server, bind
from app.http.services import open_services
from app.models.service.cycle_gateway import PlanTimes
from app.runs.storage.run_log import RunLog
from infra.local.postgres import LocalPostgres
from tests.app.finished_run import TEXT, URL, write_begin, write_end
from tests.app.served_api import InMemoryRuns
from tests.support.accounts import HOME_KEY, act_as_home, role_urls

STEP_S = 0.3


class BriefRuns(InMemoryRuns):
    """Runs that end by themselves."""

    def __init__(self, database: asyncpg.Pool) -> None:
        super().__init__(RunLog(database))
        self.database = database
        self.ending: set[asyncio.Task[None]] = set()

    async def start(self, request: ResearchInput) -> None:
        await super().start(request)
        task = asyncio.create_task(self._end(request.run_id))
        self.ending.add(task)
        task.add_done_callback(self.ending.discard)

    async def _end(self, run_id: UUID) -> None:
        await asyncio.sleep(STEP_S)
        await write_begin(self.log, run_id)
        await asyncio.sleep(STEP_S)
        await write_end(self.database, self.log, run_id)
        self.open.discard(run_id)
        await asyncio.sleep(STEP_S)
        await self.log.set_status(run_id, RunStatus.CANCELLED)


@contextlib.asynccontextmanager
async def serve_small_index() -> AsyncIterator[str]:
    """Serve a retrieval service with one page, for the routes that ask one."""

    async def search(_: web.Request) -> web.Response:
        return web.json_response({"passages": [{"source": {"url": URL}}]})

    async def read(_: web.Request) -> web.Response:
        return web.json_response({"text": TEXT})

    application = web.Application()
    application.add_routes([web.post("/search", search), web.post("/read", read)])
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


class NoPlans:
    """Cycles of no plan: none is scheduled, and those that begin wait for workers."""

    async def wake_cycle(self, cycle: UUID) -> None:
        """Leave it to wait."""

    async def find_times(self, plan: str) -> PlanTimes | None:
        """Find none."""
        return None


@contextlib.asynccontextmanager
async def serve_fuzzed_api(folder: Path) -> AsyncIterator[str]:
    """Serve the API; yield its address."""
    postgres = LocalPostgres(folder / "postgres", folder / "postgres.log")
    try:
        await postgres.start()
        await act_as_home(postgres)
        url = await postgres.ensure_database("fuzzed")
        await upgrade(url)
        await ensure_local_owner(url, HOME_KEY)
        urls = role_urls(postgres, url)
        pool = await connect(urls[1])
        gateway = BriefRuns(pool)
        async with (
            serve_small_index() as index,
            open_services(*urls, gateway, retrieval_url=index, cycle_gateway=NoPlans()) as services,
        ):
            with bind("127.0.0.1", 0) as listening:
                server = Server(create_app(services), services)
                serving = asyncio.create_task(server.serve(sockets=[listening]))
                yield f"http://127.0.0.1:{listening.getsockname()[1]}"
                server.should_exit = True
                await serving
        await pool.close()
    finally:
        postgres.stop()


async def main(folder: Path) -> None:
    """Serve until standard input ends."""
    async with serve_fuzzed_api(folder) as address:
        print(address, HOME_KEY, flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
