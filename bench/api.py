"""`python -m bench.api`: measure how the API answers while it is busy in every way at once.

Requests come at a fixed rate (99 % reads, 1 % questions, which are researched with a stub model). A thousand event streams
watch a hundred runs that wait for their plans' approval and whose logs grow twice a second. The health endpoint is pinged
meanwhile, and before, while all streams are opened at once. The time of a request counts from the moment at which it was due, so
that a stall counts for every request it delays.
"""

import argparse
import asyncio
import itertools
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import asyncpg
import orjson
import uvloop

from app.accounts.nouns.access import LOCAL_ORGANISATION, Role
from app.domain.run import EventType, RunStatus
from app.runs.storage.run_log import RunLog
from app.settings import PREFIX
from bench.client import ask, watch
from bench.http_load import LeanClient
from bench.processes import measure_cpu_by_name, measure_cpu_s, read_load_average
from bench.questions import make_question
from bench.result import print_result
from bench.stack import ROOT, RunningStack, database_url_of, start_model_stub, start_stack
from bench.tenancy_houses import add_member
from rubrica_client import runs

MODEL_LATENCY = timedelta(milliseconds=200)
# A small run: two searches at once, a report of one section.
SHAPE = ("--shape", "subtasks=2", "--shape", "turns=2", "--shape", "searches=2", "--shape", "sections=1")
FINISHED = 10
# A person may have somewhat more open.
STREAMS_OF_READER = 200
READS = (
    "/runs/{}",
    "/runs?limit=20",
    "/runs/{}",
    "/runs/{}/report",
    "/runs/{}",
    "/runs/{}/evidence",
    "/runs/{}/plan",
    "/runs?limit=20",
)
ONE_WRITE_IN = 100
HEALTH_EVERY_S = 0.1
ANSWER_LIMIT_S = 120.0


@dataclass
class RequestTimes:
    """Seconds that requests took, and how they ended."""

    requests: list[float] = field(default_factory=list)
    creates: list[float] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)


def find_quantile(values: Sequence[float], share: float) -> float:
    """Return a quantile in milliseconds; `values` are seconds in any order."""
    ordered = sorted(values)
    return 1_000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else float("nan")


@asynccontextmanager
async def open_watchers(stack: RunningStack, ids: Sequence[UUID], each: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """Open streams of these runs, for several readers, in a process of their own, and hold them until the block ends."""
    readers = range(-(-len(ids) * each // STREAMS_OF_READER))
    keys = [str((await add_member(stack.database, LOCAL_ORGANISATION, Role.VIEWER)).key) for _ in readers]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.api_streams", stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, limit=2**30
    )
    assert process.stdin is not None
    assert process.stdout is not None
    address = urlsplit(stack.state.api)
    order = {"host": address.hostname, "port": address.port, "keys": keys, "runs": list(map(str, ids)), "each": each}
    process.stdin.write(orjson.dumps(order) + b"\n")
    await process.stdin.drain()
    try:
        assert (await process.stdout.readline()).strip() == b"open"
        yield process
    finally:
        if process.returncode is None:
            process.terminate()


async def make_waiting_runs(stack: RunningStack, count: int) -> list[UUID]:
    """Create runs that wait for a person to approve their plan, so that only the bench writes to their logs.

    They have to be real: the worker would begin a run without an open workflow.
    """
    ids = [await ask(stack.client, make_question(10_000 + n), effort="quick", approve_plan=True) for n in range(count)]
    for run_id in ids:
        while (await stack.client.send(runs.get(run_id))).status != "awaiting_approval":
            await asyncio.sleep(0.1)
    return [UUID(run_id) for run_id in ids]


async def append_events(log: RunLog, ids: Sequence[UUID], a_second: float, until: float) -> int:
    """Append to each log so many events a second, spread evenly; return how many there were in all."""
    gap = 1 / (a_second * len(ids))
    started, count = time.monotonic(), 0
    writing: set[asyncio.Task[Any]] = set()
    while time.monotonic() < until:
        await asyncio.sleep(max(started + count * gap - time.monotonic(), 0))
        payload = {"message": f"sent {time.time():.6f}"}
        task = asyncio.create_task(log.append_event(ids[count % len(ids)], EventType.WARNING, "", payload))
        writing.add(task)
        task.add_done_callback(writing.discard)
        count += 1
    await asyncio.gather(*writing)
    return count


async def send_requests(client: LeanClient, finished: Sequence[str], rate: float, times: RequestTimes, until: float) -> None:
    """Send requests at their due times, whether earlier ones are answered or not."""
    started, waiting, numbers = time.monotonic(), set[asyncio.Task[None]](), itertools.count(1_000)
    reads = _list_reads(finished)
    for n in itertools.count():
        due = started + n / rate
        if due > until:
            break
        await asyncio.sleep(max(due - time.monotonic(), 0))
        write = n % ONE_WRITE_IN == ONE_WRITE_IN // 2
        work = _ask(client, next(numbers), due, times) if write else _read(client, next(reads), due, times)
        task = asyncio.create_task(work)
        waiting.add(task)
        task.add_done_callback(waiting.discard)
    await asyncio.gather(*waiting)


def _list_reads(finished: Sequence[str]) -> Iterator[str]:
    for n in itertools.count():
        yield READS[n % len(READS)].format(finished[n % len(finished)])


async def _read(client: LeanClient, path: str, due: float, times: RequestTimes) -> None:
    await _time_request(client, "GET", path, None, due, times)


async def _ask(client: LeanClient, number: int, due: float, times: RequestTimes) -> None:
    body = orjson.dumps({"question": make_question(number), "effort": "quick"})
    await _time_request(client, "POST", "/runs", body, due, times)
    times.creates.append(times.requests[-1])


async def _time_request(client: LeanClient, method: str, path: str, body: bytes | None, due: float, times: RequestTimes) -> None:
    ended = await _find_ending(client, method, f"/v1{path}", body)
    times.requests.append(time.monotonic() - due)
    times.statuses[f"{method} {ended}"] += 1


async def ping_health(client: LeanClient, times: RequestTimes, ended: Callable[[], bool]) -> None:
    """Ask the health endpoint ten times a second, until it has `ended`."""
    while not ended():
        began = time.monotonic()
        ending = await _find_ending(client, "GET", "/health")
        times.health.append(time.monotonic() - began)
        times.statuses[f"health {ending}"] += 1
        await asyncio.sleep(max(began + HEALTH_EVERY_S - time.monotonic(), 0))


async def _find_ending(client: LeanClient, method: str, path: str, body: bytes | None = None) -> str:
    """Send a request; return its status, or the name of the error."""
    try:
        async with asyncio.timeout(ANSWER_LIMIT_S):
            return str(await client.fetch_status(method, path, body))
    except (OSError, TimeoutError) as error:
        return type(error).__name__


async def _skip_reset(_connection: asyncpg.Connection) -> None:
    """Do nothing: appending leaves no session state, and asyncpg's own reset would be a further round trip for each event."""


async def measure(stack: RunningStack, pool: asyncpg.Pool, options: argparse.Namespace) -> dict[str, float]:
    """Run every kind of load at once; return the figures."""
    log, times, client = RunLog(pool), RequestTimes(), LeanClient(stack.state.api, str(stack.home.ensure_api_key()))
    asked = [await ask(stack.client, make_question(n), effort="quick") for n in range(FINISHED)]
    ended = [(await watch(stack.client, run_id)).status for run_id in asked]
    assert set(ended) == {"completed"}, ended
    ids = await make_waiting_runs(stack, options.runs)
    opening, opened = RequestTimes(), asyncio.Event()
    pinging = asyncio.create_task(ping_health(client, opening, opened.is_set))
    async with open_watchers(stack, ids, options.streams // options.runs) as streams:
        opened.set()
        await pinging
        await send_requests(client, asked, 20, RequestTimes(), time.monotonic() + options.warm_up)
        before, began = _measure_cpu(stack, streams), time.monotonic()
        until = began + options.seconds
        emitted, _, _ = await asyncio.gather(
            append_events(log, ids, options.events, until),
            send_requests(client, asked, options.rate, times, until),
            ping_health(client, times, lambda: time.monotonic() >= until),
        )
        took = time.monotonic() - began
        used = {name: (after - before[name]) / took for name, after in _measure_cpu(stack, streams).items()}
        await asyncio.gather(*(log.set_status(run_id, RunStatus.CANCELLED) for run_id in ids))
        seen = await _read_totals(streams)
    done = await pool.fetchval("SELECT count(*) FROM runs WHERE status = 'completed'") - len(asked)
    print(f"{dict(times.statuses)}; {done} of the questions asked were answered by then")
    print(f"{emitted} events, {seen['events']} arrivals, longest silence {seen['longest_silence_s']:.1f} s")
    print(
        f"load average {read_load_average():.1f}; cores used: "
        + ", ".join(f"{name} {share:.3f}" for name, share in sorted(used.items()))
        + f"; all {sum(used.values()):.3f}, {1_000 * sum(used.values()) * took / len(times.requests):.2f} ms a request"
    )
    print(f"create p50 {find_quantile(times.creates, 0.5):.1f} ms, p99 {find_quantile(times.creates, 0.99):.1f} ms")
    print(f"while the streams were opened: {dict(opening.statuses)}")
    times.statuses.update(opening.statuses)
    failed = sum(count for status, count in times.statuses.items() if not status.endswith(("200", "201")))
    return {
        "p50_ms": find_quantile(times.requests, 0.5),
        "p99_ms": find_quantile(times.requests, 0.99),
        "failed_requests": failed,
        "lost_events": seen["lost"] + seen["unfinished"],
        "reordered_events": seen["reordered"],
        "delivery_p50_ms": find_quantile(seen["delays"], 0.5),
        "delivery_p99_ms": find_quantile(seen["delays"], 0.99),
        "health_p99_ms": find_quantile(times.health, 0.99),
        "health_while_opening_max_ms": find_quantile(opening.health, 1),
    }


def _measure_cpu(stack: RunningStack, streams: asyncio.subprocess.Process) -> dict[str, float]:
    """Return the CPU seconds so far of each part, of the process that watches, and of this one, which asks and appends."""
    return {**measure_cpu_by_name(stack.read_pids()), "watching": measure_cpu_s(streams.pid), "asking": time.process_time()}


@contextmanager
def serve_word_index(folder: Path) -> Iterator[str]:
    """Serve retrieval without vectors, which take minutes to make and do not concern the API; yield its address."""
    socket = folder / "index.sock"
    command = [sys.executable, "-m", "retrieval.service.server", "--socket", str(socket), "--home", str(folder / "index")]
    process = subprocess.Popen([*command, "--encoder", "none"], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not socket.exists():
            time.sleep(0.1)
        yield f"unix:{socket}"
    finally:
        process.terminate()
        process.wait(20)


async def _read_totals(streams: asyncio.subprocess.Process) -> dict[str, Any]:
    assert streams.stdout is not None
    async with asyncio.timeout(60):
        found: dict[str, Any] = orjson.loads(await streams.stdout.readline())
    return found


async def run(folder: Path, options: argparse.Namespace) -> None:
    """Start the stack, measure, and print the figures."""
    with start_model_stub(folder / "bill", MODEL_LATENCY, SHAPE) as stub, serve_word_index(folder) as index:
        async with start_stack(options.home or folder / "home", stub, {PREFIX + "RETRIEVAL_URL": index}) as stack:
            acting = {"rubrica.organisation": str(LOCAL_ORGANISATION)}
            appending = asyncpg.create_pool(
                database_url_of(stack.home), min_size=4, max_size=4, server_settings=acting, reset=_skip_reset
            )
            async with appending as pool:
                found = await measure(stack, pool, options)
    print_result("api", found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="state folder to use and keep; default: a temporary one")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to measure")
    parser.add_argument("--warm-up", type=float, default=5.0, help="seconds of light load before")
    parser.add_argument("--rate", type=float, default=200.0, help="requests a second")
    parser.add_argument("--streams", type=int, default=1_000, help="open event streams")
    parser.add_argument("--runs", type=int, default=100, help="runs that they watch")
    parser.add_argument("--events", type=float, default=2.0, help="events a second of each run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rubrica-bench-") as folder:
        uvloop.run(run(Path(folder), options))


if __name__ == "__main__":
    main()
