"""Do the work of `rubrica retrain`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from app.domain.errors import NotFound, SetupError
from app.domain.retraining import Cycle, CyclePlan, CycleState, CycleWish
from app.domain.training_stage import TrainingStage
from app.models.service.acts import Actor
from app.models.service.cycle_order import list_all_steps
from app.models.service.cycles import Cycles
from app.models.service.plan_files import PLAN, read_plan, require_inputs
from app.models.service.plan_needs import NeedKind, PlanNeed
from app.models.service.scheduled_plans import ScheduledPlan, ScheduledPlans
from app.models.service.step_papers import list_papers
from app.models.service.temporal_gateway import TemporalCycles
from app.settings import Settings
from infra.cli.evaluation_fleet import find_temporal
from infra.cli.registry_commands import name_actor
from infra.cli.worker_database import open_worker_pool
from infra.local.home import Home
from training.loop.check_plan import check_plan_files
from training.loop.plan_servers import ask_servers

TIME = "%Y-%m-%d %H:%M:%S"
LOOK_EVERY = timedelta(seconds=2)
NEWEST = 50
NEEDED = {NeedKind.PAIRS: "decided pairs", NeedKind.READERS: "readers", NeedKind.ROWS: "rows"}


@dataclass(frozen=True)
class OpenCycles:
    """The cycles of the deployment, its scheduled plans, and who acts from this command line."""

    cycles: Cycles
    plans: ScheduledPlans
    actor: Actor


@asynccontextmanager
async def open_cycles(settings: Settings) -> AsyncIterator[OpenCycles]:
    """Open the cycles of the deployment that the settings name, or of the stack that runs on this home.

    Raises:
        SetupError: none runs, or its database cannot be used.
    """
    home = Home(settings.home)
    gateway = TemporalCycles(_require_temporal(settings))
    async with open_worker_pool(settings, home) as pool:
        plans = ScheduledPlans(pool, settings.loop, gateway)
        yield OpenCycles(Cycles(pool, settings.loop, gateway), plans, name_actor(settings))


async def describe(settings: Settings, path: Path) -> int:
    """Print what a cycle of a plan would do and may take, and whether the servers that it names have their models."""
    file, plan, told = await asyncio.to_thread(_check_plan, settings, path)
    print(f"{plan.name}: learns from what was said since {plan.since:%Y-%m-%d}")
    print(f"may take US$ {plan.caps.usd:.2f} and {plan.caps.device_hours:.1f} hours of {plan.device or 'this machine'}")
    for step in list_all_steps(plan):
        print(f"  {step.name}{'  (a person must agree)' if step.name in plan.approve else ''}")
    for stage in plan.stages:
        print(f"{stage.name}: {stage.recipe} from at least {stage.least_rows} rows of {stage.kind}, for the {stage.role}")
        print(f"  made of {', '.join(stage.inputs + stage.collections)}{_tell_generator(plan, stage)}")
    print(*told, *await ask_servers(file, plan), sep="\n")
    return 0


async def start(settings: Settings, path: Path) -> int:
    """Start a cycle and print its id."""
    file, _, _ = await asyncio.to_thread(_check_plan, settings, path)
    async with open_cycles(settings) as opened:
        print((await opened.cycles.start(file, opened.actor)).id)
    return 0


async def schedule(settings: Settings, path: Path, cron: str, time_zone: str) -> int:
    """Keep a plan's times."""
    file, _, _ = await asyncio.to_thread(_check_plan, settings, path)
    name = await TemporalCycles(_require_temporal(settings)).schedule_plan(settings.loop, file, cron, time_zone)
    print(f"cycles of {name} start at {cron!r} ({time_zone})")
    return 0


async def unschedule(settings: Settings, name: str) -> int:
    """End a plan's times."""
    await TemporalCycles(_require_temporal(settings)).remove_schedule(name)
    return 0


async def list_cycles(settings: Settings) -> int:
    """Print each scheduled plan with what its next cycle lacks, and a line for each of the newest cycles."""
    async with open_cycles(settings) as opened:
        for plan in await opened.plans.list_all():
            print(*_describe_plan(plan), sep="\n")
        for cycle in [standing.cycle for standing in await opened.cycles.list_page(NEWEST)]:
            print(f"{cycle.id}  {cycle.created_at:{TIME}}  {cycle.plan.name:20} {describe_state(cycle)}")
    return 0


async def show(settings: Settings, named: str, follow: bool) -> int:
    """Print a cycle's events as they come, and how it stands at the end."""
    seen = 0
    async with open_cycles(settings) as opened:
        cycle = await find_cycle(opened.cycles, named)
        while True:
            found = await opened.cycles.get(cycle)
            for event in await opened.cycles.list_events(cycle, seen):
                seen = event.seq
                print(f"{event.at:{TIME}}  {event.type:14} {_tell(event.payload)}", flush=True)
            if not follow or found.state.finished or found.state in (CycleState.WAITING, CycleState.PAUSED):
                break
            await asyncio.sleep(LOOK_EVERY.total_seconds())
    print(describe_state(found))
    for paper in list_papers(settings.loop / str(cycle), found):
        print(f"read {paper}")
    return 0


async def approve(settings: Settings, named: str, step: str, why: str) -> int:
    """Agree to a step."""
    async with open_cycles(settings) as opened:
        cycle = await find_cycle(opened.cycles, named)
        print(describe_state(await opened.cycles.approve(cycle, step, opened.actor, why)))
    return 0


async def wish(settings: Settings, named: str, wished: CycleWish, why: str) -> int:
    """Pause a cycle, let it go on, or stop it."""
    async with open_cycles(settings) as opened:
        cycle = await find_cycle(opened.cycles, named)
        print(describe_state(await opened.cycles.wish(cycle, wished, opened.actor, why)))
    return 0


async def find_cycle(cycles: Cycles, named: str) -> UUID:
    """Return the id that is told whole, or that of the only one of the newest cycles that begins so.

    Raises:
        NotFound: there is none, or several.
    """
    try:
        return UUID(named)
    except ValueError:
        newest = [standing.cycle.id for standing in await cycles.list_page(NEWEST)]
    found = [each for each in newest if str(each).startswith(named.lower())]
    if len(found) != 1:
        raise NotFound(f"{len(found) or 'no'} cycles begin with {named!r}; `rubrica retrain list` shows the newest")
    return found[0]


def describe_state(cycle: Cycle) -> str:
    """Return how a cycle stands, in a line."""
    return f"{cycle.state}: {cycle.detail}" if cycle.detail else str(cycle.state)


def _check_plan(settings: Settings, path: Path) -> tuple[Path, CyclePlan, list[str]]:
    """Return a plan's file, the plan, and what is worth knowing of it. All that it names is here, where its cycles are worked."""
    file = path / PLAN if path.is_dir() else path
    plan = read_plan(file)
    require_inputs(plan)
    return file, plan, check_plan_files(file, plan, settings)


def _tell_generator(plan: CyclePlan, stage: TrainingStage) -> str:
    if stage.generator is None:
        return ""
    holder = "what has the role rubric by then"
    made = any(each.name == stage.generator for each in plan.stages)
    return f"; rubrics by {f'the version of {stage.generator}, or else {holder}' if made else holder}"


def _describe_plan(plan: ScheduledPlan) -> list[str]:
    """Return a scheduled plan in lines: its times, and what the next cycle would have of what it needs, by an estimate."""
    times = plan.times
    following = f"next at {times.next_at:{TIME}} UTC" if times.next_at else "resting"
    under_way = f"; {plan.under_way} is under way" if plan.under_way else ""
    head = f"{plan.name}: {following} ({times.cron or 'times not noted'}, {times.time_zone}){under_way}"
    return [head, *(f"  {_describe_need(need)}" for need in plan.needs), *([f"  {plan.fault}"] if plan.fault else [])]


def _describe_need(need: PlanNeed) -> str:
    whose = f"{need.stage}: " if need.stage else ""
    if need.found is None:
        return f"{whose}{need.least} {NEEDED[need.what]} are needed; how many there are is known when the set is made"
    lacks = f"; {need.missing} are missing" if need.missing else ""
    return f"{whose}about {need.found} of {need.least} {NEEDED[need.what]}{lacks}"


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
