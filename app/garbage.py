"""How often a process that serves many runs looks for cycles of garbage, and gives freed memory back to the system."""

import asyncio
import ctypes
import gc
from datetime import timedelta

NEW_OBJECTS = 50_000
GIVE_BACK_EVERY = timedelta(seconds=15)


def collect_garbage_rarely() -> None:
    """Leave out of later collections what is loaded by now, and begin one only after 50,000 new objects.

    With Python's own threshold of 700 a worker with 64 runs spends a seventh of its CPU time on collections.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)


async def give_memory_back(every: timedelta = GIVE_BACK_EVERY) -> None:
    """Give freed memory back to the system again and again, for as long as this runs; end at once where the C library cannot.

    The C library itself gives back only what is free at the end of its heap. Requests come and go between words that are kept, so
    that a worker which had 24 runs in flight would hold 45 MB that nothing uses.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    while trim is not None:
        await asyncio.sleep(every.total_seconds())
        trim(0)
