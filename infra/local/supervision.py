"""Keep parts running: start one that ends or falls silent again, at once the first time, then after growing pauses."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Protocol

from app.domain.errors import SetupError
from infra.local.process import Process

FIRST_PAUSE = timedelta(seconds=0.5)
LONGEST_PAUSE = timedelta(seconds=30)
STEADY = timedelta(seconds=60)
CHECK_EVERY = timedelta(seconds=10)
MISSES_ALLOWED = 3


class StackPart(Protocol):
    """A server of the stack."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        ...

    @property
    def process(self) -> Process | None:
        """Its process, or None before the first start."""
        ...

    async def start(self) -> None:
        """Start the part and wait until it is ready. Raises `SetupError` when that fails."""
        ...

    async def responds(self) -> bool:
        """Return whether anything answers at its address; an answer that reports an error counts too."""
        ...

    def stop(self) -> None:
        """End the part. Safe to repeat."""
        ...


async def keep_running(
    part: StackPart, say: Callable[[str], None], restarted: Callable[[], None], check_every: timedelta = CHECK_EVERY
) -> None:
    """Watch a started part for ever. Start it again when it ends or falls silent, and call `restarted` after each new start.

    Every error is said and outlived, since nobody waits for this task: the part would stay down without a word.
    """
    pause = timedelta(0)
    while True:
        since = time.monotonic()
        what = await _wait_for_trouble(part, check_every)
        _tell(say, f"{part.name} {what}; starting it again")
        steady = time.monotonic() - since > STEADY.total_seconds()
        pause = await _start_again(part, say, timedelta(0) if steady else pause)
        try:
            restarted()
        except Exception as error:  # noqa: BLE001  (said; the part runs)
            _tell(say, f"{part.name} runs again, but this cannot be noted: {_describe(error)}")


async def _start_again(part: StackPart, say: Callable[[str], None], pause: timedelta) -> timedelta:
    """Start the part again until it runs. Return how long to wait before the next time."""
    while True:
        await asyncio.sleep(pause.total_seconds())
        pause = min(max(2 * pause, FIRST_PAUSE), LONGEST_PAUSE)
        try:
            await asyncio.to_thread(part.stop)
            await part.start()
        except Exception as error:  # noqa: BLE001  (said, and tried again)
            reason = str(error) if isinstance(error, SetupError) else f"{part.name} cannot be started: {_describe(error)}"
            _tell(say, f"{reason}\ntrying again in {pause.total_seconds():.0f} s")
        else:
            return pause


async def _wait_for_trouble(part: StackPart, check_every: timedelta) -> str:
    """Wait until the part ends or does not respond to several checks in a row. Return which of the two, in words.

    After a check that was missed the next one follows sooner.
    """
    assert part.process is not None
    ended = asyncio.ensure_future(part.process.wait_for_end())
    missed = 0
    try:
        while missed < MISSES_ALLOWED:
            pause = check_every / 2 if missed else check_every
            done, _ = await asyncio.wait((ended,), timeout=pause.total_seconds())
            if done:
                return f"ended ({_describe_exit(ended.result())})"
            missed = 0 if await part.responds() else missed + 1
        return "does not respond any more"
    finally:
        ended.cancel()


def stop_together(parts: Sequence[StackPart]) -> None:
    """Ask all parts to stop, then wait for each, so that they end at the same time."""
    for part in parts:
        if part.process is not None:
            part.process.ask_to_stop()
    for part in parts:
        part.stop()


def _tell(say: Callable[[str], None], line: str) -> None:
    """Say a line. Where nothing can be written (a full disk, a terminal that is gone), the part is started all the same."""
    with contextlib.suppress(OSError):
        say(line)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _describe_exit(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"code {code}"
