"""`python -m bench.rollback`: three bad canaries on a whole stack, and how soon new runs get the stable model again.

Cycles of retraining begin the canaries, with the product's own code; only what trains and examines is a toy. Each candidate
serves half of the organisations as their writer, from a stand-in for a model of its own. It does well until it is tried; then
20% of its calls fail, or the canary's runs take three times as long, or it loses 70 of 100 votes of readers who agreed and get
second reports from the product itself.

`seconds` is the longest time, of the three, from the last look at which the data did not yet show the loss until a new run of the
canary's organisation would get the stable model: never less than what is asked for. `errors_runs`, `slow_runs` and `votes` are
what had been seen by then, and `slower` how many times longer the slow canary's runs took.
"""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.database.tenancy import Tenant
from app.domain.model_versions import Canary, CanaryState, falls_to_canary
from app.domain.served_models import ModelRole
from app.models.service.acts import Actor
from app.models.service.cycles import Cycles
from app.models.service.temporal_gateway import TemporalCycles
from app.models.storage import canaries
from app.models.storage.canary_observations import list_observations
from app.models.storage.resolution import resolve_roles
from app.statistics.canary import Action, CanaryPlan, ServedRun, Vote, decide_canary
from bench.loop.houses import House, open_houses, prepare_home
from bench.loop.plant import list_questions
from bench.result import print_result
from bench.stack import RunningStack, start_stack
from rubrica_client import NewRun, preferences, runs
from rubrica_client.models import ChoiceVerdict, ComparisonStatus, Composition, Effort, NewChoice, RunStatus
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.support.model_stub_faults import Fault
from tests.support.model_stub_script import THOUGHT, RunShape, answer_by_script
from tests.workflows.durable.retraining import toy_steps

HOUSES, AT_ONCE = 8, 3
LATENCY = timedelta(milliseconds=50)
POLL_S, LOOK_S = 0.5, 0.2
WRITER_CALLS = 2
SLOWER, LOST, FAILING = 3.0, 0.7, 0.2
SHAPE = RunShape(subtasks=1, turns=2, searches=1, quotes=2, sections=1)
OTHER_WORDS = "The passages say no more than this, so what later presidents thought of it is left to another report."
PLAN = """
name = "{name}"
since = 2026-01-01T00:00:00Z
canary = {{share = 0.5, longest = "P1D", least_runs = 0, compare = {compare}}}
[[stages]]
name = "writer"
role = "writer"
recipe = "sft_cold_start"
config = "recipe.toml"
kind = "trajectories"
gate = "gate.toml"
exam = "exam.toml"
server = {{address = "{address}", base = "base", notation = "schema"}}
"""
SIDES = """
    SELECT v.left_place = 'delivered' AS delivered_left, d.lineage -> 'models' ->> 'writer' = $2 AS delivered_by_canary
    FROM viewings v JOIN candidates d ON d.comparison_id = v.comparison_id AND d.place = 'delivered' WHERE v.comparison_id = $1"""
SECONDS = """
    SELECT avg(l.active_seconds) FROM runs r JOIN ledgers l ON l.run_id = r.id
    WHERE r.status = 'completed' AND r.made_for IS NULL AND r.created_at >= $1
      AND (coalesce(r.query -> 'models' ->> 'writer', '') = $2) = $3"""

BENCH = Actor("bench", Tenant(LOCAL_ORGANISATION))


@dataclass
class World:
    """A stack with organisations, the cycles that it works, the candidates' server, and questions that nobody asked yet."""

    stack: RunningStack
    cycles: Cycles
    folder: Path
    candidates: ModelStub
    houses: Sequence[House]
    organisations: dict[str, UUID] = field(default_factory=dict)
    questions: list[str] = field(default_factory=lambda: [each.text for each in list_questions(3_000, "rollback")])

    async def find_organisations(self) -> None:
        """Note the ids of the organisations by their names."""
        rows = await self.stack.database.fetch("SELECT name, id FROM organisations")
        self.organisations = {row["name"]: row["id"] for row in rows}

    def list_arm(self, canary: Canary, of_canary: bool) -> list[House]:
        """Return organisations of one arm, as many as ask at a time."""
        found = [
            house
            for house in self.houses
            if falls_to_canary(canary.id, self.organisations[house.name], canary.share) is of_canary
        ]
        return found[:AT_ONCE]


@dataclass(frozen=True, slots=True)
class WayBack:
    """How a canary ended: after how many seconds, with what seen, why, and by how much its runs took longer."""

    seconds: float
    observed: int
    why: str
    slower: float


async def run_cycle(world: World, name: str, compare: float, spoil: Callable[[], None], vote: bool = False) -> WayBack:
    """Run a cycle up to its canary, spoil the candidate, have people ask (and vote), and watch until the way back is taken."""
    heal(world.candidates)
    cycle = await world.cycles.start(write_plan(world, name, compare), BENCH)
    while not (running := await canaries.list_running(world.stack.database)):
        if (now := await world.cycles.get(cycle.id)).state.finished:
            raise RuntimeError(f"{name}: the cycle ended before its canary: {now.state} {now.detail}")
        await asyncio.sleep(POLL_S)
    canary = running[ModelRole.WRITER]
    spoil()
    arms = [world.list_arm(canary, of_canary) for of_canary in (True, False)]
    if not all(arms):
        raise RuntimeError(f"{name}: all organisations are of one arm; begin again")
    over = asyncio.Event()
    work: list[Awaitable[None]] = [keep_asking(world, house, over) for houses in arms for house in houses]
    if vote:
        work += [keep_voting(world, canary, house, over) for houses in arms for house in houses]
    busy = asyncio.gather(*work)
    try:
        back = await watch_canary(world, canary, arms[0][0])
    finally:
        over.set()
        heal(world.candidates)
        await busy
    while not (await world.cycles.get(cycle.id)).state.finished:
        await asyncio.sleep(POLL_S)
    print(
        f"{name}: back after {back.seconds:.1f} s, {back.observed} seen, {back.slower:.1f} times as long; {back.why}", flush=True
    )
    return back


def write_otherwise(prompt: StubPrompt) -> str | None:
    """Write the report in other words than the stable model: of two that are the same there is no pair."""
    text = None if prompt.step else answer_by_script(prompt, SHAPE)
    return text.replace(THOUGHT, OTHER_WORDS) if isinstance(text, str) else None


def heal(candidates: ModelStub) -> None:
    """Let the candidates' server do well."""
    candidates.latency, candidates.faults.rates = LATENCY, {}


async def watch_canary(world: World, canary: Canary, house: House) -> WayBack:
    """Look at the data and at what a new run gets, until it gets the stable model."""
    database, organisation = world.stack.database, world.organisations[house.name]
    unshown, seen = time.monotonic(), list[ServedRun | Vote]()
    while True:
        began = time.monotonic()
        seen = await list_observations(database, canary)
        if decide_canary(CanaryPlan(), seen).action is not Action.ROLL_BACK:
            unshown = began
        if (await resolve_roles(database, organisation=organisation)).writer != canary.served:
            break
        await asyncio.sleep(LOOK_S)
    seconds, ended = time.monotonic() - unshown, await canaries.get(database, canary.id)
    if ended is None or ended.state is not CanaryState.ROLLED_BACK:
        raise RuntimeError(f"the canary was not rolled back: {ended}")
    slow, usual = [await database.fetchval(SECONDS, canary.started_at, canary.served, arm) for arm in (True, False)]
    counted = [each for each in seen if isinstance(each, Vote if "votes" in ended.why else ServedRun)]
    return WayBack(seconds, len(counted), ended.why, slow / usual)


async def keep_asking(world: World, house: House, over: asyncio.Event) -> None:
    """Ask one question after the other of the house's own document. A run that fails, or waits, is left alone."""
    client = house.readers[0].client
    while not over.is_set():
        question = world.questions.pop()
        new = NewRun(question=question, effort=Effort.QUICK, collections=[house.collection], composition=Composition.SINGLE_PASS)
        run = await client.send(runs.create(new))
        while run.finished_at is None and run.status != RunStatus.PAUSED:
            await asyncio.sleep(LOOK_S)
            run = await client.send(runs.get(run.id))


async def keep_voting(world: World, canary: Canary, house: House, over: asyncio.Event) -> None:
    """Vote on each comparison that the product offers, against the candidate in so many of a hundred."""
    client, dice, done = house.readers[0].client, random.Random(house.name), set[str]()
    while not over.is_set():
        for item in [each async for each in client.each(preferences.comparisons())]:
            if item.id in done or (await client.send(preferences.comparison(item.id))).status == ComparisonStatus.PREPARING:
                continue
            done.add(item.id)
            row = await world.stack.database.fetchrow(SIDES, UUID(item.id), canary.served)
            if row is None or item.chosen:
                continue
            canary_left = row["delivered_left"] == row["delivered_by_canary"]
            left = canary_left == (dice.random() >= LOST)
            verdict = ChoiceVerdict.LEFT if left else ChoiceVerdict.RIGHT
            await client.send(preferences.choose(item.id, NewChoice(verdict=verdict, strength=2)))
        await asyncio.sleep(POLL_S)


def write_plan(world: World, name: str, compare: float) -> Path:
    """Write the plan of a cycle whose candidates are served by the stand-in."""
    place = world.folder / f"plan-{name}"
    place.mkdir()
    for file in ("recipe.toml", "gate.toml", "exam.toml"):
        (place / file).touch()
    (place / "plan.toml").write_text(PLAN.format(name=name, compare=compare, address=world.candidates.base_url))
    return place / "plan.toml"


def write_python(folder: Path) -> Path:
    """Write an interpreter whose steps are toys."""
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} {toy_steps.__file__} "$@"\n')
    script.chmod(0o755)
    return script


@asynccontextmanager
async def open_world(folder: Path) -> AsyncIterator[World]:
    """Start the stand-ins, the stack and its organisations."""
    loop, home = folder / "loop", folder / "home"
    loop.mkdir()
    (loop / "script.json").write_text("{}")
    prepare_home(home)
    async with (
        serve_model_stub(ModelStub(latency=LATENCY, shape=SHAPE)) as stable,
        serve_model_stub(ModelStub(latency=LATENCY, shape=SHAPE, answerer=write_otherwise)) as candidates,
    ):
        settings = {
            "RUBRICA_LLM_BASE_URL": stable.base_url,
            "RUBRICA_LLM_MODEL": "stub",
            "RUBRICA_JUDGE": "offline",
            "RUBRICA_LOOP_DIR": str(loop),
            "RUBRICA_TRAIN_PYTHON": str(write_python(folder)),
        }
        async with (
            start_stack(home, None, settings, indexed=False) as stack,
            open_houses(stack.state.api, HOUSES, 1) as houses,
        ):
            assert stack.state.temporal is not None
            cycles = Cycles(stack.database, loop, TemporalCycles(stack.state.temporal))
            world = World(stack, cycles, folder, candidates, houses)
            await world.find_organisations()
            yield world


async def measure(folder: Path) -> None:
    """Run the three canaries and print what they took."""
    async with open_world(folder) as world:
        candidates = world.candidates

        def fail() -> None:
            candidates.faults.rates = {Fault.UNAUTHORIZED: FAILING}  # others are waited out, or asked again

        errors = await run_cycle(world, "errors", 0, fail)
        usual = await world.stack.database.fetchval("SELECT avg(active_seconds) FROM ledgers")

        def slow_down() -> None:
            candidates.latency = LATENCY + timedelta(seconds=(SLOWER - 1) * usual / WRITER_CALLS)

        slow = await run_cycle(world, "slow", 0, slow_down)
        votes = await run_cycle(world, "votes", 1, lambda: None, vote=True)
    reasons = [("errors", errors), ("latency", slow), ("votes", votes)]
    if wrong := [f"{reason}: {back.why}" for reason, back in reasons if reason not in back.why]:
        raise RuntimeError(f"rolled back for another reason: {wrong}")
    print_result(
        "rollback",
        {
            "seconds": max(back.seconds for _, back in reasons),
            "errors_runs": errors.observed,
            "slow_runs": slow.observed,
            "slower": slow.slower,
            "votes": votes.observed,
        },
    )


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory(prefix="rollback-") as folder:
        asyncio.run(measure(Path(folder)))


if __name__ == "__main__":
    main()
