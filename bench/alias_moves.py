"""`python -m bench.alias_moves`: roles change their models while runs are under way, and no run notices.

Askers keep a number of runs under way on a whole stack. Meanwhile versions are loaded at the model server, of which one load in
ten fails, and each gets its role, the next one once a further run has begun; a version that no run needs any more is unloaded.
Every run must complete, and ask in each role the one model that it was created with. `swap_s` is the longest time from the end of
a load until new runs get the version.
"""

import argparse
import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import aiohttp

from app.domain.query import ResearchQuery
from app.domain.served_models import ModelRole, ServedModel
from app.domain.trajectory import Turn
from app.models.service.serving import add_model, move_alias
from app.models.storage.resolution import resolve_roles
from app.models.storage.unneeded import UNUSED
from bench.client import ask, watch
from bench.questions import TOPICS, make_question
from bench.result import print_result
from bench.stack import ModelStubProcess, RunningStack, start_model_stub, start_stack
from retrieval.search.in_process import open_local
from retrieval.search.library import DEFAULT_COLLECTION
from retrieval.store.catalogue import Collection, CorpusKind

LATENCY = timedelta(milliseconds=100)
POLL = timedelta(milliseconds=100)
MAIN = "stub"
TURNS = "SELECT r.query, t.body FROM turns t JOIN runs r ON r.id = t.run_id WHERE r.id = $1 AND t.kind = 'model'"
UNNEEDED = f"SELECT s.name FROM served_models s WHERE s.name <> $2 AND {UNUSED}"
# A run is created in far less time: what its role had meanwhile stays loaded.
SETTLED = timedelta(seconds=30)


@dataclass
class AskedRuns:
    """The runs that were asked, and those of them that did not complete."""

    ids: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    moving: bool = True


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and print the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=50)
    parser.add_argument("--runs", type=int, default=32, help="runs under way at a time")
    options = parser.parse_args(arguments)
    asyncio.run(measure(options.moves, options.runs))


async def measure(moves: int, at_once: int) -> None:
    """Run the bench and print its result."""
    with tempfile.TemporaryDirectory() as folder:
        bill = Path(folder) / "bill.jsonl"
        with start_model_stub(bill, LATENCY, ["--known", MAIN]) as stub:
            prepare_home(Path(folder) / "home")
            async with start_stack(Path(folder) / "home", stub) as stack:
                asked = AskedRuns()
                async with asyncio.TaskGroup() as tasks:
                    for number in range(at_once):
                        tasks.create_task(keep_asking(stack, asked, number))
                    waits = await move_roles(stack, stub, asked, moves)
                    asked.moving = False
                mixed = [run_id for run_id in asked.ids if await is_mixed(stack, UUID(run_id))]
                print(f"{len(asked.ids)} runs, {moves} moves; failed: {asked.failed or 'none'}, mixed: {mixed or 'none'}")
                figures = {
                    "runs": len(asked.ids),
                    "failed_runs": len(asked.failed),
                    "mixed_runs": len(mixed),
                    "swap_s": max(waits),
                }
    print_result("alias_moves", figures)


def prepare_home(home: Path) -> None:
    """Make a small default collection: the usual one would be indexed for minutes on all cores."""
    folder = home / "own-documents"
    folder.mkdir(parents=True)
    for topic in TOPICS:
        (folder / f"{topic}.txt").write_text(
            f"Presidents justified their policy on {topic}. Congress was asked to act on {topic}.\n"
        )
    open_local(home, Collection(name=DEFAULT_COLLECTION, kind=CorpusKind.FOLDER, path=str(folder))).close()


async def keep_asking(stack: RunningStack, asked: AskedRuns, number: int) -> None:
    """Ask one question after the other for as long as roles are moved."""
    count = 0
    while asked.moving:
        run_id = await ask(stack.client, make_question(number * 1_000 + count), effort="quick")
        asked.ids.append(run_id)
        count += 1
        if (await watch(stack.client, run_id)).status != "completed":
            asked.failed.append(run_id)


async def move_roles(stack: RunningStack, stub: ModelStubProcess, asked: AskedRuns, moves: int) -> list[float]:
    """Give the roles new versions in turn, with a new run between two moves; return how long each move took, in seconds."""
    waits: list[float] = []
    number = 0
    while len(waits) < moves:
        before = len(asked.ids)
        role = tuple(ModelRole)[len(waits) % len(ModelRole)]
        number += 1
        name = f"{role}-v{number}"
        if await load(stack, stub, name):
            waits.append(await give_role(stack, ServedModel(name=name, address=stub.base_url), role))
        await unload_unneeded(stack, stub)
        while len(asked.ids) == before:
            await asyncio.sleep(POLL.total_seconds())
    return waits


async def load(stack: RunningStack, stub: ModelStubProcess, name: str) -> bool:
    """Load a version at the model server; return whether it could. A version that cannot be loaded gets no role."""
    try:
        await stub.control(stack.session, {"load": name})
    except aiohttp.ClientResponseError:
        return False
    return True


async def give_role(stack: RunningStack, model: ServedModel, role: ModelRole) -> float:
    """Move the role's alias; return the seconds until a new run would get the model."""
    began = time.monotonic()
    async with stack.database.acquire() as connection, connection.transaction():
        await add_model(connection, model)
        await move_alias(connection, role, model.name, "bench", "the next version")
    while (await resolve_roles(stack.database)).of(role) != model.name:
        await asyncio.sleep(0.01)
    return time.monotonic() - began


async def unload_unneeded(stack: RunningStack, stub: ModelStubProcess) -> None:
    """Unload the versions that have no role, and that no run under way began with."""
    names = [row["name"] for row in await stack.database.fetch(UNNEEDED, SETTLED, MAIN)]
    if names:
        await stub.control(stack.session, {"unload": names})


async def is_mixed(stack: RunningStack, run_id: UUID) -> bool:
    """Say whether a role of the run was ever answered by another model than the one that the run was created with."""
    heard: defaultdict[str, set[str]] = defaultdict(set)
    for row in await stack.database.fetch(TURNS, run_id):
        query, turn = ResearchQuery.of_any_version(row["query"]), Turn.of_any_version(row["body"])
        assert turn.completion is not None
        heard[query.models.of(role_of(turn)) or MAIN].add(turn.completion.model)
    return any(models != {name} for name, models in heard.items())


def role_of(turn: Turn) -> ModelRole:
    """Return the role that a turn was made in, by its agent."""
    if turn.agent.startswith("search/"):
        return ModelRole.SEARCHER
    if turn.agent.startswith("report/support"):
        return ModelRole.JUDGE
    return ModelRole.WRITER if turn.agent.startswith("report") else ModelRole.PLANNER


if __name__ == "__main__":
    main()
