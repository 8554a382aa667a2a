"""Following a cycle to its end, while readers go on asking during its canary."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from uuid import UUID

import asyncpg

from app.domain.retraining import Cycle, CycleEvent, CycleEventType
from app.models.storage import cycles
from bench.loop.commands import rubrica
from bench.loop.houses import House
from bench.loop.plant import Question
from bench.loop.voting import keep_asking

LOOK_EVERY_S = 1.0
Tell = Callable[[str], None]


async def follow_cycle(
    home: Path, database: asyncpg.Pool, plan: Path, houses: Sequence[House], questions: Sequence[Question], tell: Tell
) -> Cycle:
    """Start a cycle of a plan by the command, and return it when it has ended."""
    cycle = UUID(await rubrica(home, "retrain", "start", str(plan)))
    seen, over, asking = 0, asyncio.Event(), None
    try:
        while True:
            found = await cycles.get(database, cycle)
            for event in await cycles.list_events(database, cycle, seen):
                seen = event.seq
                tell(describe(event))
                if event.type is CycleEventType.CANARY_STARTED and asking is None:
                    asking = asyncio.create_task(keep_asking(houses, questions, over))
                if event.type is CycleEventType.CANARY_ENDED:
                    over.set()
            assert found is not None
            if found.state.finished:
                return found
            await asyncio.sleep(LOOK_EVERY_S)
    finally:
        over.set()
        if asking is not None:
            tell(f"during the canary {await asking} runs were asked for")


def describe(event: CycleEvent) -> str:
    """Return what happened in a line."""
    told = event.payload
    figures = told.get("figures") or {}
    match event.type:
        case CycleEventType.STEP_FINISHED:
            shown = {name: value for name, value in figures.items() if name in SHOWN}
            return f"{told['step']}: {told['verdict']} {told.get('detail', '')} {shown or ''}".rstrip()
        case CycleEventType.STEP_PROGRESS:
            return f"{told['step']} is at {told.get('at')}"
        case _:
            return f"{event.type}: " + ", ".join(f"{name} {value}" for name, value in told.items() if name != "figures")


SHOWN = ("rows", "left_out", "agreement", "pairs", "readers", "means", "observations", "serves", "name")
