"""`python -m bench.bare_durable`: measure what a report would cost if the product only waited durably.

It is the yardstick of `bench.overhead` on the same machine: as many model and tool calls as there, in nine activities of one
workflow, each answer inserted into PostgreSQL before the next call. It builds no prompt, reads no answer, and searches, checks
and counts nothing. Temporal and PostgreSQL are the product's own local ones; the product's other processes are idle.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import aiohttp
import asyncpg
import orjson
import uvloop
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from bench.processes import measure_cpu_by_name, read_load_average
from bench.result import print_result
from bench.stack import ROOT, RunningStack, database_url_of, start_model_stub, start_stack

QUEUE = "bare"
MODEL_LATENCY, TOOL_LATENCY = timedelta(milliseconds=200), timedelta(milliseconds=50)
ROUNDS = {1: 6, 8: 3, 64: 2}
PROMPT = "A paragraph as long as a passage that an agent has found and reads with its next question. " * 50
TABLE = "CREATE TABLE IF NOT EXISTS bare_turns (run text, agent text, n int, answer jsonb, PRIMARY KEY (run, agent, n))"
INSERT = "INSERT INTO bare_turns VALUES ($1, $2, $3, $4)"
# (model calls one after another, tool calls after them) of each agent of an activity; the agents of one run at the same time.
PLAN, SEARCH, OUTLINE, SECTIONS = ((2, 0),), ((7, 2),), ((2, 0),), ((5, 0),) * 6
SEARCHES = 6
MODEL_CALLS = sum(calls for agents in (PLAN, SEARCH * SEARCHES, OUTLINE, SECTIONS) for calls, _ in agents)
TOOL_CALLS = sum(calls for _, calls in SEARCH * SEARCHES)
CRITICAL_S = sum(
    calls * MODEL_LATENCY.total_seconds() + tools * TOOL_LATENCY.total_seconds()
    for calls, tools in (PLAN[0], SEARCH[0], OUTLINE[0], SECTIONS[0])
)
Agents = list[tuple[int, int]]


class TurnActivities:
    """The worker's one activity."""

    def __init__(self, session: aiohttp.ClientSession, database: asyncpg.Pool, model: str) -> None:
        self._session, self._database, self._address = session, database, model + "/chat/completions"

    @activity.defn(name="turns")
    async def run_turns(self, stage: str, agents: Agents) -> None:
        """Make every agent's calls, each stored before the next."""
        await asyncio.gather(*(self._run_agent(f"{stage}/{n}", *calls) for n, calls in enumerate(agents)))

    async def _run_agent(self, agent: str, model_calls: int, tool_calls: int) -> None:
        run = activity.info().workflow_id or ""
        for n in range(model_calls + tool_calls):
            answer = await self._ask_model(f"{run} {agent} {n}") if n < model_calls else await self._wait_for_tool()
            await self._database.execute(INSERT, run, agent, n, answer)

    async def _ask_model(self, which: str) -> str:
        body = {"model": "stub", "messages": [{"role": "user", "content": which + PROMPT}]}
        headers = {"Content-Type": "application/json"}
        async with self._session.post(self._address, data=orjson.dumps(body), headers=headers) as answer:
            return orjson.dumps(orjson.loads(await answer.read())).decode()

    async def _wait_for_tool(self) -> str:
        await asyncio.sleep(TOOL_LATENCY.total_seconds())
        return "{}"


@workflow.defn(name="bare")
class BareWorkflow:
    """A workflow that plans, searches in parallel, outlines and writes."""

    @workflow.run
    async def run(self) -> None:
        """Run one activity a stage."""
        await self._run_stage("plan", PLAN)
        await asyncio.gather(*(self._run_stage(f"search{n}", SEARCH) for n in range(SEARCHES)))
        await self._run_stage("outline", OUTLINE)
        await self._run_stage("sections", SECTIONS)

    async def _run_stage(self, name: str, agents: tuple[tuple[int, int], ...]) -> None:
        await workflow.execute_activity(
            "turns",
            args=[name, list(agents)],
            start_to_close_timeout=timedelta(minutes=5),
            heartbeat_timeout=timedelta(minutes=1),
        )


async def serve(temporal: str, database: str, model: str) -> None:
    """Run the worker until its process is ended."""
    client = await Client.connect(temporal)
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
        asyncpg.create_pool(database, min_size=1, max_size=8) as pool,
        Worker(
            client,
            task_queue=QUEUE,
            workflows=[BareWorkflow],
            activities=[TurnActivities(session, pool, model).run_turns],
            max_concurrent_activities=1_000,
            workflow_runner=UnsandboxedWorkflowRunner(),
        ),
    ):
        await asyncio.Event().wait()


@contextmanager
def start_worker(stack: RunningStack, model: str) -> Iterator[int]:
    """Start the worker in a process of its own; yield its id."""
    arguments = ["--serve", str(stack.state.temporal), database_url_of(stack.home), model]
    process = subprocess.Popen([sys.executable, "-m", "bench.bare_durable", *arguments], cwd=ROOT)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(10)


async def time_run(client: Client) -> float:
    """Do one run; return its wall seconds, from asking for it to its end."""
    started = time.perf_counter()
    await client.execute_workflow("bare", id=f"bare-{uuid4()}", task_queue=QUEUE)
    return time.perf_counter() - started


async def measure(client: Client, pids: dict[str, int], at_once: int, rounds: int) -> dict[str, float]:
    """Do `at_once` runs together, `rounds` times; return their figures."""
    before, started = measure_cpu_by_name(pids), time.perf_counter()
    walls: list[float] = []
    for _ in range(rounds):
        walls += await asyncio.gather(*(time_run(client) for _ in range(at_once)))
    elapsed_s = time.perf_counter() - started
    used = {name: (after - before[name]) / len(walls) for name, after in measure_cpu_by_name(pids).items()}
    found = {"cpu_s": used["worker"], "all_cpu_s": sum(used.values())}
    found |= {"wall_ratio": statistics.median(walls) / CRITICAL_S, "reports_per_s": len(walls) / elapsed_s}
    parts = ", ".join(f"{name} {seconds:.3f}" for name, seconds in used.items())
    print(f"{at_once:3d} at once: CPU-s a run: {parts}; {found} (load {read_load_average():.1f})", flush=True)
    return {f"{key}_{at_once}": value for key, value in found.items()}


async def run(folder: Path, options: argparse.Namespace) -> None:
    print(f"{MODEL_CALLS} model and {TOOL_CALLS} tool calls a run, critical path {CRITICAL_S:.2f} s")
    with start_model_stub(folder / "bill", MODEL_LATENCY) as stub:
        async with start_stack(options.home or folder / "home", stub) as stack:
            await stack.database.execute(TABLE)
            client = await Client.connect(str(stack.state.temporal))
            with start_worker(stack, stub.base_url) as worker:
                pids = {"worker": worker} | {
                    name: pid for name, pid in stack.read_pids().items() if name in ("Temporal", "PostgreSQL")
                }
                await measure(client, pids, 1, 1)  # the first run of a process pays for imports
                found: dict[str, float] = {}
                for at_once in options.levels:
                    found |= await measure(client, pids, at_once, ROUNDS.get(at_once, 1))
            await stack.database.execute("DROP TABLE bare_turns")
    print_result("bare_durable", found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="state folder to use and keep; default: a temporary one")
    parser.add_argument("--levels", type=int, nargs="+", default=list(ROUNDS), help="runs at once")
    parser.add_argument("--serve", nargs=3, metavar=("TEMPORAL", "DATABASE", "MODEL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        uvloop.run(serve(*options.serve))
        return
    with tempfile.TemporaryDirectory(prefix="rubrica-bench-") as folder:
        asyncio.run(run(Path(folder), options))


if __name__ == "__main__":
    main()
