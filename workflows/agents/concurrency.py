"""Running an agent's independent calls at once without losing an answer that is already paid for."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def give_way() -> None:
    """Let all other ready tasks of this process run first.

    Runs share the process and take turns at every step. All others wait while one run computes in one piece, so work of more than
    a few milliseconds calls this in between.
    """
    await asyncio.sleep(0)


async def settle_all(calls: Sequence[Coroutine[Any, Any, T]], at_once: int) -> list[T | BaseException]:
    """Run the calls, at most `at_once` under way, and return results or exceptions in the order of `calls`.

    A failing call does not cancel the others: their answers are stored by the record and count when the stage resumes.
    """
    gate = asyncio.Semaphore(at_once)

    async def take_turn(call: Coroutine[Any, Any, T]) -> T:
        async with gate:
            return await call

    return await asyncio.gather(*map(take_turn, calls), return_exceptions=True)


async def gather_all(calls: Sequence[Coroutine[Any, Any, T]], at_once: int) -> list[T]:
    """Return the results in the order of `calls`. The first exception in that order is raised once all have ended."""
    results: list[T] = []
    for settled in await settle_all(calls, at_once):
        if isinstance(settled, BaseException):
            raise settled
        results.append(settled)
    return results
