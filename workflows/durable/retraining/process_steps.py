"""Steps that are processes: `python -m training.loop.STEP FOLDER`. The folder is all that a step and its watcher share."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import orjson
from pydantic import ValidationError

from app.domain.retraining import Cycle, CycleEventType, StepOutcome, StepTask, StepVerdict
from app.domain.served_models import ServedModel
from app.domain.step_folder import OUTCOME, PROGRESS, SERVER_AWAY, SIGNALLED, TASK
from app.models.service.cycle_order import Step, StepKind
from app.models.storage import cycles
from workflows.durable.persistence import persist
from workflows.durable.retraining.holders import find_generator, find_holder
from workflows.durable.retraining.interruption import LOOK_EVERY, CycleInterrupted, ServerAway, StepKilled, wait_a_look
from workflows.durable.retraining.keeper import OUTPUT
from workflows.durable.retraining.leasing import hold_device
from workflows.durable.retraining.processes import DATABASE_SETTINGS, ProcessLook
from workflows.durable.retraining.telling import note_beginning
from workflows.durable.retraining.workplace import LoopWorkplace

KILLS = "kills.json"
# A process that was killed goes on from what it saved; one that so many kills found at the same place will not get further.
MOST_KILLS = 5
PACKAGES = Path(__file__).parents[3]
NEEDS_DEVICE = (StepKind.TRAIN, StepKind.EXAM)
SHOWN_OUTPUT = 600


async def run_process(place: LoopWorkplace, cycle: Cycle, step: Step, outcomes: Mapping[str, StepOutcome]) -> StepOutcome:
    """Run a step's process to its outcome: find it where it goes on, start it where it does not.

    Raises:
        CycleInterrupted: the cycle is to pause or to stop; the process was asked to end, and saved what it had.
        StepKilled: it was killed, and may go on.
        ServerAway: a server that it needs does not answer.
    """
    folder = place.folder_of(cycle, step)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    device = cycle.plan.device if step.kind in NEEDS_DEVICE else ""
    async with hold_device(place.database, cycle, device, step.name):
        look = await place.processes.look(folder)
        if not look.alive and not (folder / OUTCOME).exists():
            await _start(place, cycle, step, folder, outcomes)
        return _read_outcome(folder, await _watch(place, cycle, step, folder))


async def _start(place: LoopWorkplace, cycle: Cycle, step: Step, folder: Path, outcomes: Mapping[str, StepOutcome]) -> None:
    await note_beginning(place, cycle, step)
    begun = StepTask.of_any_version((folder / TASK).read_bytes()) if (folder / TASK).exists() else None
    holder = await find_holder(place, step, begun.holder if begun else "")
    generator = await find_generator(place, cycle, step, outcomes, begun.generator if begun else None)
    _write(folder / TASK, _describe(place, cycle, step, holder, generator).model_dump_json())
    command = (place.python, "-m", f"training.loop.{step.kind.value}", str(folder))
    await place.processes.start(folder, command, _environment_of(step))


async def _watch(place: LoopWorkplace, cycle: Cycle, step: Step, folder: Path) -> ProcessLook:
    """Wait for the end of a process, and tell of its progress."""
    told = b""
    while (look := await place.processes.look(folder)).alive:
        told = await _tell_progress(place, cycle, step, folder, told)
        try:
            await wait_a_look(place.database, cycle)
        except CycleInterrupted:
            await _stop(place, folder)
            raise
    return look


async def _stop(place: LoopWorkplace, folder: Path) -> None:
    """Ask a process to stop, and wait until it has saved what it had."""
    await place.processes.stop(folder)
    while (await place.processes.look(folder)).alive:
        await asyncio.sleep(LOOK_EVERY.total_seconds())


async def _tell_progress(place: LoopWorkplace, cycle: Cycle, step: Step, folder: Path, told: bytes) -> bytes:
    """Append a step's progress to the cycle's log when it has changed."""
    try:
        now = (folder / PROGRESS).read_bytes()
    except FileNotFoundError:
        return told
    if now != told:
        progress = {"step": step.name, **orjson.loads(now)}
        await persist(lambda: cycles.tell(place.database, cycle.id, CycleEventType.STEP_PROGRESS, progress))
    return now


def _describe(place: LoopWorkplace, cycle: Cycle, step: Step, holder: str, generator: ServedModel | None) -> StepTask:
    return StepTask(
        cycle=cycle.id,
        step=step.name,
        plan=str(place.folder_of_plan(cycle)),
        began_at=cycle.created_at,
        since=cycle.plan.since,
        checks=cycle.plan.checks,
        held_out=cycle.plan.held_out,
        holder=holder,
        generator=generator,
        stage=step.stage,
        folders={kind.value: str(folder) for kind, folder in place.folders_of(cycle, step.stage).items()},
        sets=tuple(str(place.folder_of(cycle, Step(StepKind.SET, stage))) for stage in cycle.plan.stages),
    )


def _environment_of(step: Step) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if step.kind is StepKind.SNAPSHOT or name not in DATABASE_SETTINGS}
    paths = [str(PACKAGES), *filter(None, [kept.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths)}


def _read_outcome(folder: Path, look: ProcessLook) -> StepOutcome:
    """Return the outcome that a process left; without one, a failure with the end of what it printed.

    Raises:
        StepKilled: it was killed, and may go on.
        ServerAway: a server that it needs does not answer.
    """
    try:
        return StepOutcome.of_any_version((folder / OUTCOME).read_bytes())
    except ValidationError as error:
        return StepOutcome(verdict=StepVerdict.FAILED, detail=f"{folder / OUTCOME} cannot be read: {error}")
    except FileNotFoundError:
        if look.code == SERVER_AWAY:
            raise ServerAway(_read_end(folder)) from None
        if _was_killed(look) and _count_kills(folder) < MOST_KILLS:
            raise StepKilled(folder.name) from None
    return StepOutcome(verdict=StepVerdict.FAILED, detail=f"it ended with {look.code} and no outcome: {_read_end(folder)}")


def _read_end(folder: Path) -> str:
    """Return the end of what a process printed."""
    output = folder / OUTPUT
    return output.read_bytes()[-SHOWN_OUTPUT:].decode(errors="replace").strip() if output.exists() else ""


def _was_killed(look: ProcessLook) -> bool:
    """Return whether a signal ended the process, or its keeper: its own errors come again, a kill does not."""
    return look.code is None or look.code < 0 or look.code > SIGNALLED


def _count_kills(folder: Path) -> int:
    """Count one more kill, and return how many came since the step last got further."""
    progress = (folder / PROGRESS).read_text() if (folder / PROGRESS).exists() else ""
    kills = orjson.loads((folder / KILLS).read_bytes()) if (folder / KILLS).exists() else {}
    count = kills["count"] + 1 if kills.get("progress") == progress else 1
    _write(folder / KILLS, orjson.dumps({"progress": progress, "count": count}).decode())
    return int(count)


def _write(path: Path, text: str) -> None:
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)
