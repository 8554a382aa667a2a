"""Running an agent's independent calls at once, without losing an answer that is already paid for."""

import asyncio
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def give_way() -> None:
    """Let whatever else is ready in this process run first.

    A run takes turns with all others at every step. What it computes in one piece each of them waits for, once a step; so work
    of more than a few milliseconds is cut where it can be.
    """
    await asyncio.sleep(0)


async def all_settled(calls: Sequence[Coroutine[Any, Any, T]], at_once: int) -> list[T | BaseException]:
    """Results or exceptions in the order of `calls`, at most `at_once` under way.

    A failing call does not cancel the others: their answers are stored by the record and count when the stage resumes.
    The first runs in the caller's own task, and none is gathered: each task more is a turn of the loop more, at which an agent
    waits for whatever else is ready.
    """
    gate = asyncio.Semaphore(at_once)
    others = [asyncio.create_task(_in_turn(call, gate)) for call in calls[1:]]
    try:
        return [await _settled(call) for call in (*(_in_turn(call, gate) for call in calls[:1]), *others)]
    except asyncio.CancelledError:
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        raise


async def _in_turn(call: Awaitable[T], gate: asyncio.Semaphore) -> T:
    async with gate:
        return await call


async def _settled(call: Awaitable[T]) -> T | BaseException:
    """What it returns or raises, a halt of the run too; only the caller's own end is none of its values."""
    try:
        return await call
    except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  (a value, for the caller to judge)
        return error


async def all_of(calls: Sequence[Coroutine[Any, Any, T]], at_once: int) -> list[T]:
    """Results in the order of `calls`; the first exception in that order is raised once all have ended."""
    results: list[T] = []
    for settled in await all_settled(calls, at_once):
        if isinstance(settled, BaseException):
            raise settled
        results.append(settled)
    return results
