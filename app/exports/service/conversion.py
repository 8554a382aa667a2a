"""Make files that take long in child processes: a few at a time, each for a limited time."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import tempfile
from datetime import timedelta

from app.domain.errors import Conflict, Unavailable
from app.exports.nouns import ExportFormat
from app.exports.service.composing import Manuscript

CONVERSIONS_AT_ONCE = 2
LIMIT = timedelta(seconds=60)
LONGEST_QUEUE = 16
# A child gets nothing else of the API's environment: no database address, no key.
KEPT_VARIABLES = ("PATH", "LANG", "LD_LIBRARY_PATH", "PYTHONPATH", "SYSTEMROOT")

log = logging.getLogger(__name__)


class Conversions:
    """A maker of report files, a few at a time."""

    def __init__(self, limit: timedelta = LIMIT) -> None:
        self._limit = limit
        self._turn = asyncio.Semaphore(CONVERSIONS_AT_ONCE)
        self._waiting = 0

    async def make(self, form: ExportFormat, manuscript: Manuscript) -> bytes:
        """Make the file.

        Raises:
            Unavailable: too many requests wait, or it took more time or memory than the limits allow.
            Conflict: this report cannot be made into this format, however often it is tried; the log says why.
        """
        if self._waiting >= LONGEST_QUEUE:
            raise Unavailable("many exports are being made just now; repeat the request in a minute")
        self._waiting += 1
        try:
            async with self._turn:
                return await self._run_child(form, manuscript.model_dump_json().encode())
        finally:
            self._waiting -= 1

    async def _run_child(self, form: ExportFormat, content: bytes) -> bytes:
        with tempfile.TemporaryDirectory(prefix="rubrica-export-") as folder:
            child = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                f"{__package__}.child",
                form.value,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=folder,
                env=_make_environment(folder),
                start_new_session=True,
            )
            try:
                async with asyncio.timeout(self._limit.total_seconds()):
                    made, said = await child.communicate(content)
            except TimeoutError as error:
                log.error("making %s took longer than %s", form, self._limit)
                raise Unavailable(f"making this {form} takes too long; try another format") from error
            finally:
                await _end_child(child)
        if child.returncode:
            log.error("making %s failed (%s): %s", form, child.returncode, said.decode(errors="replace")[-2000:])
            # Ended by a signal, it met a limit, perhaps of a machine that was busy; anything else fails each time.
            kind = Unavailable if child.returncode < 0 else Conflict
            raise kind(f"this report could not be made into {form}; try another format")
        return made


async def _end_child(child: asyncio.subprocess.Process) -> None:
    """End the child and everything it started, also when the request was cancelled."""
    if child.returncode != 0:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()


def _make_environment(folder: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    # The child finds our packages where this process found them, in any working folder.
    ours = os.pathsep.join(path for path in sys.path if path)
    return {**kept, "PYTHONPATH": ours, "PYTHONUTF8": "1", "HOME": folder, "TMPDIR": folder}
