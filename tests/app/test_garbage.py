"""Memory that a worker no longer uses."""

import asyncio
import os
from datetime import timedelta

import pytest

from app.garbage import give_memory_back
from bench.processes import measure_resident_mib

MANY, EACH, APART = 60_000, 1_000, 50


async def test_what_is_free_between_things_in_use_is_given_back() -> None:
    words = [bytes(EACH) for _ in range(MANY)]
    kept = words[::APART]
    words.clear()
    held = measure_resident_mib(os.getpid())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(give_memory_back(timedelta(seconds=0.1)), 0.5)
    assert measure_resident_mib(os.getpid()) < held - 40, f"{len(kept)} words hold what lies between them"
