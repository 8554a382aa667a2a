"""Keep the logs of the stack short while its processes write them: a long one is set aside, and the oldest are deleted."""

import asyncio
import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from logging.handlers import RotatingFileHandler
from pathlib import Path

from app.settings import Settings

LOOK_EVERY = timedelta(seconds=10)
AFTER_FAILURE = timedelta(minutes=10)


async def keep_logs_short(
    folder: Path, settings: Settings, say: Callable[[str], None], look_every: timedelta = LOOK_EVERY
) -> None:
    """Look at the logs in `folder` at regular intervals, until cancelled."""
    while True:
        try:
            await asyncio.to_thread(_shorten_logs, folder, settings.log_mb * 2**20, settings.log_files)
        except OSError as error:
            say(f"the logs in {folder} cannot be kept short: {error}")
            await asyncio.sleep(AFTER_FAILURE.total_seconds())
        await asyncio.sleep(look_every.total_seconds())


def _shorten_logs(folder: Path, most_bytes: int, files: int) -> None:
    """Set each log with more than `most_bytes` aside, as `<name>.log.1`. Of those of one process, `files` are kept."""
    for log in folder.glob("*.log"):
        if log.stat().st_size > most_bytes:
            handler = RotatingFileHandler(log, backupCount=files, delay=True)
            handler.rotator = _copy_and_empty
            handler.doRollover()
            handler.close()


def _copy_and_empty(source: str, target: str) -> None:
    """Copy a log, then empty it: its process has it open, and goes on at the end of this file, whatever its name.

    What the process writes between the two steps is lost, a line or two.
    """
    try:
        shutil.copyfile(source, target)
    except OSError:
        Path(target).unlink(missing_ok=True)
        raise
    os.truncate(source, 0)
