"""The owner's side of building: it runs one child process for each collection and announces each step."""

import asyncio
import logging
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import timedelta

from app.domain.errors import Conflict
from retrieval.store.catalogue import Build, BuildPhase

STOP_WITHIN = timedelta(seconds=5)
ATTEMPTS = 3
"""The number of starts of a builder that dies (failing is not dying) before its collection is given up."""
VERDICTS = (0, 3)
"""The exit codes of a builder that finished: done, or failed with the reason in the build's state."""
OnStep = Callable[[Build], Awaitable[None]]
OnGivingUp = Callable[[str, int], Awaitable[None]]
_log = logging.getLogger(__name__)


class _RunningBuild:
    def __init__(self, phase: BuildPhase) -> None:
        self.process: Process | None = None
        self.phase = phase
        self.stopping = False
        self.task: asyncio.Task[None] | None = None


class RunningBuilds:
    """The running builds. `command` starts a builder; the collection's name is added to it.

    `on_step` is awaited with each step that a builder reports, `on_giving_up` when a builder has died too often.
    """

    def __init__(self, command: Sequence[str], on_step: OnStep, on_giving_up: OnGivingUp) -> None:
        self._command = command
        self._on_step = on_step
        self._on_giving_up = on_giving_up
        self._running: dict[str, _RunningBuild] = {}
        self.changed = asyncio.Condition()

    def is_running(self, collection: str) -> bool:
        """Say whether a builder works on this collection; one that only screens it does not count."""
        running = self._running.get(collection)
        return running is not None and not running.phase.finished

    async def stop_encoding(self, collection: str) -> None:
        """Stop a builder that encodes or screens; what it has done stays. Raises `Conflict` while a builder reads or indexes."""
        running = self._running.get(collection)
        if running is not None and running.phase in (BuildPhase.READING, BuildPhase.INDEXING):
            raise Conflict(f"{collection!r} is being built already")
        await self.stop(collection)

    def start(self, collection: str, phase: BuildPhase) -> None:
        """Start the builder of the collection's latest build, which is in `phase`."""
        if collection not in self._running:
            started = self._running[collection] = _RunningBuild(phase)
            started.task = asyncio.create_task(self._run(collection, started))

    async def stop(self, collection: str) -> None:
        """Stop this collection's builder, if any, and wait for its end. What it has written stays."""
        running = self._running.get(collection)
        if running is None or running.task is None:
            return
        running.stopping = True
        if running.process is not None:
            with suppress(ProcessLookupError):
                running.process.terminate()
        try:
            await asyncio.wait_for(asyncio.shield(running.task), STOP_WITHIN.total_seconds())
        except TimeoutError:
            if running.process is not None:
                running.process.kill()
            await running.task

    async def stop_all(self) -> None:
        """Stop every builder."""
        await asyncio.gather(*(self.stop(collection) for collection in list(self._running)))

    async def _run(self, collection: str, running: _RunningBuild) -> None:
        try:
            for _ in range(ATTEMPTS):
                code = await self._run_once(collection, running)
                if code in VERDICTS or running.stopping:
                    return
                _log.warning("the builder of %r ended with code %s", collection, code)
            await self._on_giving_up(collection, code)
        finally:
            self._running.pop(collection, None)
            await self._announce()

    async def _run_once(self, collection: str, running: _RunningBuild) -> int:
        arguments = [*self._command, "--collection", collection]
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdin=PIPE, stdout=PIPE)
        running.process = process
        assert process.stdout is not None
        if running.stopping:
            process.terminate()
        async for line in process.stdout:
            build = Build.of_any_version(line)
            await self._on_step(build)
            running.phase = build.phase
            await self._announce()
        return await process.wait()

    async def _announce(self) -> None:
        async with self.changed:
            self.changed.notify_all()
