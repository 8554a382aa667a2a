"""Do the work of `rubrica retrain`."""

import asyncio
import getpass
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from app.domain.errors import SetupError
from app.domain.retraining import Cycle, CycleState, CycleWish
from app.models.service.cycle_order import ONCE, Step, list_steps
from app.models.service.cycles import Cycles
from app.models.service.plan_files import read_plan
from app.models.service.temporal_gateway import TemporalCycles
from app.settings import Settings
from infra.cli.evaluation_fleet import find_temporal
from infra.cli.worker_database import open_worker_pool
from infra.local.home import Home

TIME = "%Y-%m-%d %H:%M:%S"
LOOK_EVERY = timedelta(seconds=2)


@asynccontextmanager
async def open_cycles(settings: Settings) -> AsyncIterator[Cycles]:
    """Open the cycles of the deployment that the settings name, or of the stack that runs on this home.

    Raises:
        SetupError: none runs, or its database cannot be used.
    """
    home = Home(settings.home)
    address = _require_temporal(settings)
    async with open_worker_pool(settings, home) as pool:
        yield Cycles(pool, settings.loop, TemporalCycles(address))


async def describe(settings: Settings, path: Path) -> int:
    """Print what a cycle of a plan would do and may take."""
    plan = read_plan(path)
    print(f"{plan.name}: learns from what was said since {plan.since:%Y-%m-%d}")
    print(f"may take US$ {plan.caps.usd:.2f} and {plan.caps.device_hours:.1f} hours of {plan.device or 'this machine'}")
    for step in [Step(kind) for kind in ONCE] + [step for stage in plan.stages for step in list_steps(plan, stage)]:
        print(f"  {step.name}{'  (a person must agree)' if step.name in plan.approve else ''}")
    for stage in plan.stages:
        print(f"{stage.name}: {stage.recipe} from at least {stage.least_rows} rows of {stage.kind}, for the {stage.role}")
    return 0


async def start(settings: Settings, path: Path) -> int:
    """Start a cycle and print its id."""
    async with open_cycles(settings) as cycles:
        print((await cycles.start(path, _name_person())).id)
    return 0


async def schedule(settings: Settings, path: Path, cron: str, time_zone: str) -> int:
    """Keep a plan's times."""
    name = await TemporalCycles(_require_temporal(settings)).schedule_plan(settings.loop, path, cron, time_zone)
    print(f"cycles of {name} start at {cron!r} ({time_zone})")
    return 0


async def unschedule(settings: Settings, name: str) -> int:
    """End a plan's times."""
    await TemporalCycles(_require_temporal(settings)).remove_schedule(name)
    return 0


async def list_cycles(settings: Settings) -> int:
    """Print a line for each of the newest cycles."""
    async with open_cycles(settings) as cycles:
        for cycle in await cycles.list_newest():
            print(f"{cycle.id}  {cycle.created_at:{TIME}}  {cycle.plan.name:20} {describe_state(cycle)}")
    return 0


async def show(settings: Settings, cycle: UUID, follow: bool) -> int:
    """Print a cycle's events as they come, and how it stands at the end."""
    seen = 0
    async with open_cycles(settings) as cycles:
        while True:
            found = await cycles.get(cycle)
            for event in await cycles.list_events(cycle, seen):
                seen = event.seq
                print(f"{event.at:{TIME}}  {event.type:14} {_tell(event.payload)}", flush=True)
            if not follow or found.state.finished or found.state in (CycleState.WAITING, CycleState.PAUSED):
                break
            await asyncio.sleep(LOOK_EVERY.total_seconds())
    print(describe_state(found))
    return 0


async def approve(settings: Settings, cycle: UUID, step: str, why: str) -> int:
    """Agree to a step."""
    async with open_cycles(settings) as cycles:
        print(describe_state(await cycles.approve(cycle, step, _name_person(), why)))
    return 0


async def wish(settings: Settings, cycle: UUID, wished: CycleWish, why: str) -> int:
    """Pause a cycle, let it go on, or stop it."""
    async with open_cycles(settings) as cycles:
        print(describe_state(await cycles.wish(cycle, wished, _name_person(), why)))
    return 0


def describe_state(cycle: Cycle) -> str:
    """Return how a cycle stands, in a line."""
    return f"{cycle.state}: {cycle.detail}" if cycle.detail else str(cycle.state)


def _tell(payload: dict[str, object]) -> str:
    """Return an event's payload in a line, without what a page shows as a table."""
    return " ".join(
        f"{name}={value}" for name, value in payload.items() if value not in ("", None, {}, 0, 0.0) and name != "figures"
    )


def _require_temporal(settings: Settings) -> str:
    address = find_temporal(settings)
    if address is None:
        raise SetupError("a cycle is worked by a stack, and none is up here; start one with `rubrica up`")
    return address


def _name_person() -> str:
    return f"{getpass.getuser()} at the command line"
