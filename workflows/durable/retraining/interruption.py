"""What ends a step before its outcome: a wish of the people who watch the cycle, a kill, or a server that is away."""

import asyncio
from datetime import timedelta

import asyncpg

from app.domain.retraining import Cycle, CycleWish
from app.models.storage import cycles
from workflows.durable.persistence import persist

LOOK_EVERY = timedelta(seconds=1)
SERVER_PAUSE = timedelta(seconds=10)


class CycleInterrupted(Exception):
    """A cycle is to pause or to stop; its step goes on later, or never."""


class StepKilled(Exception):
    """A step's process was killed before its outcome, and goes on from what it saved."""


class ServerAway(Exception):
    """A server that a step needs does not answer; the step is taken again when some time has passed."""


async def wait_for_server(database: asyncpg.Pool, cycle: Cycle) -> None:
    """Wait before the next try of a step whose server is away.

    Raises:
        CycleInterrupted: the cycle is to pause or to stop.
    """
    for _ in range(int(SERVER_PAUSE / LOOK_EVERY)):
        await wait_a_look(database, cycle)


async def wait_a_look(database: asyncpg.Pool, cycle: Cycle) -> None:
    """Wait until it is time for the next look at what a step waits for.

    Raises:
        CycleInterrupted: the cycle is to pause or to stop.
    """
    await asyncio.sleep(LOOK_EVERY.total_seconds())
    now = await persist(lambda: cycles.get(database, cycle.id))
    if now is None or now.wish in (CycleWish.PAUSE, CycleWish.STOP):
        raise CycleInterrupted
