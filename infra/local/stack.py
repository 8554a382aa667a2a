"""Run the whole product on one machine: start the parts that the settings do not name, and stop them in reverse."""

import asyncio
import os
from collections.abc import Callable, Iterable
from datetime import timedelta

from app.domain.errors import Conflict, SetupError
from app.open_files import allow_open_files
from app.settings import PREFIX, Settings
from infra.local import remote
from infra.local.home import Home
from infra.local.interrupt import name_stop
from infra.local.lock import FileLock, StackState, kill_leftovers, read_start_time
from infra.local.log_file import keep_logs_short
from infra.local.model import describe_model, prepare_model
from infra.local.parts import Parts
from infra.local.supervision import StackPart, keep_running, stop_together

USERS_POLL = timedelta(seconds=0.5)


class Stack:
    """The one stack of a home. Call `start()`, then `complete()`, and `stop()` at the end.

    `say` gets each line that a person should read.
    """

    def __init__(self, settings: Settings, with_ui: bool, say: Callable[[str], None]) -> None:
        self.settings = settings
        self.home = Home(settings.home)
        self._with_ui = with_ui
        self._say = say
        self._lock = FileLock(self.home.lock)
        self._parts: Parts | None = None
        self._rest: list[asyncio.Task[None]] = []
        self._watchers: list[asyncio.Task[None]] = []

    async def start(self) -> str:
        """Start everything at once, and return the API's address when it accepts requests.

        Raises:
            Conflict: a stack already runs on this home.
            SetupError: a part cannot start; the others have been stopped.
        """
        allow_open_files()
        self.home.prepare()
        if not self._lock.acquire():
            raise Conflict(f"a stack is already running on {self.home.root}")
        try:
            kill_leftovers(self.home.state)
            await _check_remote_parts(self.settings)
            model = await asyncio.to_thread(prepare_model, self.settings, self.home)
            if model is not None:
                self._say(describe_model(model))
            elif self.settings.llm_base_url is None:
                await self._tell_own_servers()
            self._parts = Parts(self.settings, self.home, self._with_ui, model)
            await self._start_parts(self._parts)
        except BaseException:
            self.stop()
            raise
        return self._parts.api_url

    async def _tell_own_servers(self) -> None:
        from infra.local.own_servers import describe_own_models, find_own_models  # an HTTP client, which other stacks do not load

        for line in describe_own_models(await find_own_models()):
            self._say(line)

    async def complete(self) -> None:
        """Wait until the other parts, which the API does not need, are ready too.

        Raises:
            SetupError: a part cannot start.
        """
        for task in self._rest:
            await asyncio.shield(task)  # who waits no longer does not end the start of the part

    def stop(self) -> None:
        """Stop everything, services before servers, and free the home. Safe to repeat."""
        for task in [*self._watchers, *self._rest]:
            if not task.cancel() and not task.cancelled():
                task.exception()  # the first failure was raised; asyncio would warn of the others
        if (parts := self._parts) is not None:
            for tier in (
                (parts.ui, parts.api, parts.worker),
                (parts.retrieval, parts.model_server, parts.temporal, parts.postgres),
            ):
                stop_together([part for part in tier if part is not None])
            parts.give_back()
            self.home.state.unlink(missing_ok=True)
        self._parts = None
        self._lock.release()

    @property
    def running(self) -> bool:
        """True from the start of its parts until they have stopped."""
        return self._parts is not None

    async def wait_for_other_users(self) -> None:
        """Wait until no other command uses this stack."""
        users = FileLock(self.home.users)
        if users.is_held_by_another():
            self._say(f"another rubrica command still uses this stack; waiting for it ({name_stop()} stops both)")
        while users.is_held_by_another():
            await asyncio.sleep(USERS_POLL.total_seconds())

    async def _start_parts(self, parts: Parts) -> None:
        self._watchers.append(asyncio.create_task(keep_logs_short(self.home.logs, self.settings, self._say)))
        # Imports cost most of the start, so all services import now, behind their gates.
        for service in (parts.api, parts.worker, parts.retrieval, parts.model_server):
            if service is not None:
                service.spawn()
        if parts.retrieval is not None:
            self._rest.append(self._start_and_watch(parts.retrieval))
        servers: list[StackPart | None] = [parts.postgres, parts.temporal, parts.model_server]
        await _wait_for_all(self._start_and_watch(server) for server in servers if server is not None)
        if parts.postgres is not None:
            from app.database.migrate import upgrade

            await upgrade(parts.postgres.url_of())
        if self.settings.api_key is None:
            from app.accounts.service.bootstrap import ensure_local_owner

            await ensure_local_owner(parts.worker_database_url, self.home.ensure_api_key())
        self._rest.append(self._start_and_watch(parts.worker))
        await self._start_and_watch(parts.api)
        # The page comes last: it has nothing to show until the API answers, and would slow that down.
        if parts.ui is not None:
            self._rest.append(self._start_and_watch(parts.ui))

    def _start_and_watch(self, part: StackPart) -> asyncio.Task[None]:
        """Start a part, then keep it running."""

        async def start() -> None:
            await part.start()
            self._write_state()
            self._watchers.append(asyncio.create_task(keep_running(part, self._say, self._write_state)))

        return asyncio.create_task(start())

    def _write_state(self) -> None:
        if self._parts is not None:
            self.state.write(self.home.state)

    @property
    def state(self) -> StackState:
        """The state that other commands read, only while this stack runs."""
        parts = self._parts
        assert parts is not None
        # PostgreSQL is left out: it finds its own leftovers, and must not be ended by force.
        killable = (parts.temporal, parts.retrieval, parts.model_server, parts.worker, parts.api, parts.ui)
        running = {part.name: part.process for part in killable if part is not None and part.process is not None}
        return StackState(
            pid=os.getpid(),
            started=read_start_time(os.getpid()),
            api=parts.api_url,
            ui=parts.ui_url,
            temporal=parts.temporal_address,
            retrieval=parts.retrieval_url,
            processes={name: (process.pid, read_start_time(process.pid)) for name, process in running.items() if process.alive},
        )


async def _wait_for_all(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Wait for all tasks. At the first failure, cancel the others and raise it."""
    waiting = list(tasks)
    try:
        await asyncio.gather(*waiting)
    finally:
        for task in waiting:
            task.cancel()


async def _check_remote_parts(settings: Settings) -> None:
    checks = []
    for setting in ("database_url", "worker_database_url"):
        if url := getattr(settings, setting):
            checks.append(remote.check_schema(url.get_secret_value(), PREFIX + setting.upper()))
    if (settings.database_url is None) != (settings.worker_database_url is None):
        raise SetupError("a given database needs RUBRICA_DATABASE_URL and RUBRICA_WORKER_DATABASE_URL; see docs/settings.md")
    if settings.temporal_address:
        checks.append(remote.check_temporal(settings.temporal_address))
    if settings.qdrant_url:
        checks.append(remote.check_qdrant(settings.qdrant_url))
    if settings.llm_base_url:
        key = settings.llm_api_key
        checks.append(remote.check_model(settings.llm_base_url, key.get_secret_value() if key else None))
    await asyncio.gather(*checks)
