"""Memory that a worker no longer uses."""

import asyncio
import os
from datetime import timedelta

from app.garbage import give_memory_back
from bench.processes import measure_resident_mib

MANY, EACH, APART = 60_000, 1_000, 50
GIVEN_BACK_MIB = 30


async def test_what_is_free_between_things_in_use_is_given_back() -> None:
    words = [b"x" * (EACH + number % 2) for number in range(MANY)]
    kept = words[::APART]
    words.clear()
    held = measure_resident_mib(os.getpid())
    async with asyncio.timeout(20), give_memory_back(timedelta(seconds=0.1)):
        while measure_resident_mib(os.getpid()) > held - GIVEN_BACK_MIB:
            await asyncio.sleep(0.1)
    assert len(kept) == MANY // APART
