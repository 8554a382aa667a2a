"""When Python looks for cycles of garbage in a process that works runs, and when free memory goes back to the system."""

import asyncio
import ctypes
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

GARBAGE_AT = 50_000  # objects
GIVE_BACK_EVERY = timedelta(seconds=5)


def collect_rarely() -> None:
    """What is loaded by now stays for good, and turns and requests leave few cycles behind.

    Looking for these costs more than it frees.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_AT)


@asynccontextmanager
async def giving_back() -> AsyncIterator[None]:
    """Now and again, give back what the C library holds free: by itself it does so only where nothing in use lies above."""
    task = asyncio.create_task(_give_back())
    try:
        yield
    finally:
        task.cancel()


async def _give_back() -> None:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU C library alone
    while trim is not None:
        await asyncio.sleep(GIVE_BACK_EVERY.total_seconds())
        trim(0)
