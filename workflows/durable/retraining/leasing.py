"""Holding a device while a step uses it: a lease that is renewed, and lost with its holder."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta

import asyncpg

from app.domain.retraining import Cycle, CycleState
from app.models.storage import leases
from workflows.durable.persistence import persist
from workflows.durable.retraining.interruption import wait_a_look
from workflows.durable.retraining.telling import change_state

# Longer than a process goes on that nobody watches: the next holder finds the device free.
LEASE = timedelta(minutes=30)
RENEW_EVERY = timedelta(minutes=1)


@contextlib.asynccontextmanager
async def hold_device(database: asyncpg.Pool, cycle: Cycle, device: str, purpose: str) -> AsyncIterator[None]:
    """Wait for a device and hold it while the context lasts; an empty name holds none.

    Raises:
        CycleInterrupted: the cycle is to pause or to stop while it waits.
    """
    if not device:
        yield
        return
    holder = f"cycle {cycle.id}"
    await _wait_for(database, cycle, device, holder, purpose)
    renewing = asyncio.create_task(_renew(database, device, holder, purpose))
    try:
        yield
    finally:
        renewing.cancel()
        await persist(lambda: leases.give_back(database, device, holder))


async def _wait_for(database: asyncpg.Pool, cycle: Cycle, device: str, holder: str, purpose: str) -> None:
    while not await persist(lambda: leases.take(database, device, holder, purpose, LEASE)):
        taken = await persist(lambda: leases.find_holder(database, device))
        why = f"waits for {device}: {taken.holder} uses it for {taken.purpose}" if taken else f"waits for {device}"
        await change_state(database, cycle, CycleState.WAITING, why)
        await wait_a_look(database, cycle)


async def _renew(database: asyncpg.Pool, device: str, holder: str, purpose: str) -> None:
    while True:
        await asyncio.sleep(RENEW_EVERY.total_seconds())
        await persist(lambda: leases.take(database, device, holder, purpose, LEASE))
