"""What is stored of a cycle's course, and told in its log."""

import logging

import asyncpg

from app.database.engine import translate_outages
from app.domain.retraining import Cycle, CycleEventType, CycleState
from app.models.service.cycle_order import Step
from app.models.storage import cycles
from workflows.durable.persistence import persist
from workflows.durable.retraining.workplace import LoopWorkplace

log = logging.getLogger(__name__)


async def note_beginning(place: LoopWorkplace, cycle: Cycle, step: Step) -> None:
    """Store that an attempt begins, and tell of it."""
    folder = str(place.folder_of(cycle, step))
    attempt = await persist(lambda: cycles.begin_step(place.database, cycle.id, step.name, folder))
    begun = {"step": step.name, "attempt": attempt}
    await persist(lambda: cycles.tell(place.database, cycle.id, CycleEventType.STEP_STARTED, begun))


async def change_state(database: asyncpg.Pool, cycle: Cycle, state: CycleState, detail: str) -> None:
    """Store a cycle's state, and tell of it where it is another one: at once, so that who sees its end reads the whole log."""
    if await persist(lambda: _store_state(database, cycle, state, detail)):
        log.info("cycle %s: %s %s", cycle.id, state, detail)


async def _store_state(database: asyncpg.Pool, cycle: Cycle, state: CycleState, detail: str) -> bool:
    async with translate_outages(), database.acquire() as connection, connection.transaction():
        changed = await cycles.set_state(connection, cycle.id, state, detail)
        if changed:
            told = {"state": state, "detail": detail}
            await cycles.tell(connection, cycle.id, CycleEventType.STATE_CHANGED, told)
    return changed
