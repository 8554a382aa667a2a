"""`python -m bench.tools`: count the failures that reach an agent when a fifth of all provider calls fail, and check the limits.

Two worker processes share a PostgreSQL database and call four providers through the whole tool layer. Each call has one provider
only, so no fallback hides a failure. The providers are a stub over sockets that answers a fifth of all requests with 429, 503,
silence or garbage; it counts the calls that come faster than a provider allows.
"""

import argparse
import asyncio
import contextlib
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson

from app.database.engine import connect
from app.database.migrate import upgrade
from app.domain.errors import ToolError
from app.outside_calls.storage import OutsideCallStore
from bench.result import print_result
from bench.tools_stub import FaultyProviders, serve_providers
from infra.local.postgres import LocalPostgres
from retrieval.outside import http
from retrieval.outside.entrance import Entrance
from retrieval.outside.entrance_upkeep import tend
from retrieval.outside.services import PROVIDERS
from retrieval.outside.web.searching import OutsideSearch
from retrieval.ports import SearchFilter
from workflows.tools.search import SearchTool

NAMES = ("serper", "brave", "tavily", "exa")
CALLS = 10_000
WORKERS = 2
AT_ONCE = 96
FAULTY = 0.2
# A provider allows more than the workers are set to together, because calls bunch up on the way.
ALLOWED_PER_SECOND = 60
SET_PER_SECOND, SET_BURST = 42, 2
ATTEMPT_LIMIT = timedelta(seconds=1)
ROOT = Path(__file__).resolve().parent.parent


async def measure(calls: int) -> dict[str, float]:
    """Return the figures of this many calls."""
    providers = FaultyProviders(FAULTY, ALLOWED_PER_SECOND, random.Random(7))
    with tempfile.TemporaryDirectory() as folder:
        async with start_database(Path(folder)) as url, serve_providers(providers) as address:
            began = time.perf_counter()
            workers = [await start_worker(number, calls // WORKERS, url, address) for number in range(WORKERS)]
            results = [orjson.loads((await worker.communicate())[0]) for worker in workers]
            seconds = time.perf_counter() - began
    times = sorted(ms for worker in results for ms in worker["times_ms"])
    print(f"faults given: {dict(providers.faults)}")
    print(f"failures: {dict(sum((Counter(worker['errors']) for worker in results), Counter()))}")
    return {
        "calls": len(times),
        "failure_rate": sum(sum(worker["errors"].values()) for worker in results) / len(times),
        "over_limit_calls": providers.count_over_limit(),
        "attempts": providers.count_calls(),
        "faulty_attempts": providers.faults.total() / providers.count_calls(),
        "p50_ms": statistics.median(times),
        "p99_ms": times[len(times) * 99 // 100],
        "worker_cpu_ms_per_call": 1_000 * sum(worker["cpu_s"] for worker in results) / len(times),
        "seconds": seconds,
    }


@contextlib.asynccontextmanager
async def start_database(folder: Path) -> Any:
    """Start a PostgreSQL of our own; yield its address."""
    server = LocalPostgres(folder / "postgres", folder / "postgres.log")
    try:
        await server.start()
        await upgrade(server.url_of())
        yield server.url_of()
    finally:
        await asyncio.to_thread(server.stop)


async def start_worker(number: int, calls: int, database_url: str, address: str) -> asyncio.subprocess.Process:
    """Start a worker process."""
    options = ("--worker", str(number), "--calls", str(calls), "--database", database_url, "--address", address)
    command = (sys.executable, "-m", "bench.tools", *options)
    return await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdout=asyncio.subprocess.PIPE)


async def make_calls(number: int, calls: int, database_url: str, address: str) -> dict[str, Any]:
    """Make the calls, as many at once as agents would; return the time of each, and the failures an agent would see."""
    pool = await connect(database_url, largest=12)
    errors: Counter[str] = Counter()
    times: list[float] = []
    room = asyncio.Semaphore(AT_ONCE)
    async with http.open_exchange() as exchange, tend(Entrance(OutsideCallStore(pool))) as entrance:
        tools = [make_tool(name, entrance, exchange, address) for name in NAMES]

        async def call(place: int) -> None:
            async with room:
                began = time.perf_counter()
                try:
                    await tools[place % len(tools)].call({"query": f"question {place} of worker {number}"})
                except ToolError as error:
                    errors[str(error)] += 1
                times.append(1_000 * (time.perf_counter() - began))

        await asyncio.gather(*map(call, range(calls)))
    await pool.close()
    return {"times_ms": times, "errors": errors, "cpu_s": time.process_time()}


def make_tool(name: str, entrance: Entrance, exchange: http.HttpExchange, address: str) -> SearchTool:
    """Make the search tool over one provider at the stub."""
    made = PROVIDERS[name]("key")
    limits = replace(made.provider, per_second=SET_PER_SECOND, burst=SET_BURST, attempt_limit=ATTEMPT_LIMIT)
    provider = replace(made, url=f"{address}/{name}", provider=limits)
    return SearchTool(None, SearchFilter(), outside=OutsideSearch("web", entrance, exchange, [provider]))


def main() -> None:
    """Measure, or be one of the workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--database", help=argparse.SUPPRESS)
    parser.add_argument("--address", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is None:
        print_result("tools", asyncio.run(measure(options.calls)))
    else:
        results = asyncio.run(make_calls(options.worker, options.calls, options.database, options.address))
        sys.stdout.buffer.write(orjson.dumps(results))


if __name__ == "__main__":
    main()
