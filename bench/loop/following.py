"""Following a cycle to its end, while readers go on asking during its canary."""

import asyncio
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from uuid import UUID

import asyncpg

from app.domain.retraining import Cycle, CycleEvent, CycleEventType, CycleState
from app.models.storage import cycles
from bench.loop.base import EPOCHS, EXAMPLES, EXAMPLES_A_STEP
from bench.loop.commands import Tell, rubrica
from bench.loop.houses import House
from bench.loop.plant import Question
from bench.loop.voting import keep_asking
from training.recipes.run_folder import TrainingFolder

LOOK_EVERY_S, TELL_EVERY_S = 1.0, 15.0


async def follow_cycle(
    home: Path, database: asyncpg.Pool, plan: Path, houses: Sequence[House], questions: Sequence[Question], tell: Tell
) -> Cycle:
    """Start a cycle of a plan by the command, or go on with the one that was started, and return it when it has ended."""
    begun = [each.id for each in await cycles.list_page(database, 1) if each.state not in (CycleState.FAILED, CycleState.STOPPED)]
    cycle = begun[0] if begun else UUID(await rubrica(home, "retrain", "start", str(plan)))
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


async def watch_base(folder: Path, tell: Tell) -> None:
    """Tell how far the training of the first model is, and about how long it takes yet, until this is cancelled."""
    run = TrainingFolder(folder / "sft")
    steps = ceil(EXAMPLES * EPOCHS / EXAMPLES_A_STEP)
    while True:
        await asyncio.sleep(TELL_EVERY_S)
        if metrics := run.read_metrics():
            last = metrics[-1]
            left = last.seconds / last.step * (steps - last.step) / 60
            tell(f"its training is at step {last.step} of {steps}; about {left:.1f} minutes are left")


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
