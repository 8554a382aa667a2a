"""Keep parts running: one that ends by itself is started again, at once the first time, then with growing pauses."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Protocol

from app.domain.errors import SetupError
from infra.local.process import Process

FIRST_PAUSE = timedelta(seconds=0.5)
LONGEST_PAUSE = timedelta(seconds=30)
STEADY = timedelta(seconds=60)


class Part(Protocol):
    """A server of the stack."""

    @property
    def name(self) -> str:
        """What to call it in messages."""
        ...

    @property
    def process(self) -> Process | None:
        """Its process, once started."""
        ...

    async def start(self) -> None:
        """Start it and wait until it is ready; `SetupError` when that fails."""
        ...

    def stop(self) -> None:
        """End it; safe to repeat."""
        ...


async def keep_running(part: Part, say: Callable[[str], None], restarted: Callable[[], None]) -> None:
    """Watch a started part for ever. `restarted` is called after each new start."""
    pause = timedelta(0)
    while part.process is not None:
        since = time.monotonic()
        code = await part.process.ended()
        steady = time.monotonic() - since > STEADY.total_seconds()
        pause = timedelta(0) if steady else pause
        say(f"{part.name} ended ({_how(code)}); starting it again")
        while True:
            await asyncio.sleep(pause.total_seconds())
            pause = min(max(2 * pause, FIRST_PAUSE), LONGEST_PAUSE)
            try:
                await part.start()
            except SetupError as error:
                part.stop()
                say(f"{error}\ntrying again in {pause.total_seconds():.0f} s")
            else:
                restarted()
                break


def stop_together(parts: Sequence[Part]) -> None:
    """Ask all to stop, then wait for each: they end side by side."""
    for part in parts:
        if part.process is not None:
            part.process.ask_to_stop()
    for part in parts:
        part.stop()


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"code {code}"
