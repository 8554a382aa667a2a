"""`python -m bench.retrieval_speed`: time hybrid searches of 55,000 passages through the owner's socket, with query encoding.

The queries are real questions, each asked once, so that no answer is cached. Then `--points N` (as often as wanted) measures how
the index alone grows: see `bench.index_growth`. The home is that of `bench.retrieval`, whose collection and encodings are used.
"""

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import psutil

from app.domain.errors import ToolError
from bench.encodings import CachingEncoder
from bench.labelled_sets import DATA, WIKIPEDIA_PASSAGES, load_multihop, load_scifact, load_wikipedia_passages
from bench.processes import read_stat
from bench.result import print_result, print_skipped
from bench.retrieval import ENCODER_THREADS, HOME
from retrieval.encoding.encoder import EncoderBackend, open_encoder
from retrieval.ports import SearchFilter
from retrieval.search.in_process import SOTU, open_local
from retrieval.service.client import IndexClient

LIMIT = 10
WARM_UP = 40
ONE_BY_ONE = 250
AT_ONCE = 8
START_LIMIT = timedelta(seconds=30)


@contextlib.contextmanager
def start_owner(home: Path, models_dir: Path | None) -> Iterator[tuple[IndexClient, int]]:
    """Start an index owner of this home, as the product does; yield a client and the process id."""
    with tempfile.TemporaryDirectory(prefix="rbq") as folder:
        socket = Path(folder) / "index.sock"
        command = [sys.executable, "-m", "retrieval.service.server", "--socket", str(socket), "--home", str(home)]
        process = subprocess.Popen([*command, *(["--models-dir", str(models_dir)] if models_dir else [])])
        try:
            yield IndexClient(str(socket)), process.pid
        finally:
            process.terminate()
            process.wait(10)


async def wait_until_ready(client: IndexClient) -> None:
    """Wait until it answers."""
    deadline = time.monotonic() + START_LIMIT.total_seconds()
    while True:
        try:
            await client.read_health()
            return
        except ToolError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.05)


async def time_searches(client: IndexClient, queries: Sequence[str], at_once: int) -> list[float]:
    """Ask all queries, so many at a time; return the milliseconds each took, shortest first."""
    turn, took = asyncio.Semaphore(at_once), []

    async def one(query: str) -> None:
        async with turn:
            start = time.perf_counter()
            await client.search(query, LIMIT, SearchFilter(collections=(WIKIPEDIA_PASSAGES,)))
            took.append((time.perf_counter() - start) * 1_000)

    await asyncio.gather(*map(one, queries))
    return sorted(took)


async def measure_searches(home: Path, models_dir: Path | None) -> dict[str, float]:
    """Measure latency one by one, then throughput with several at once; CPU and memory are the owner's."""
    sets = (load_wikipedia_passages(), load_multihop(), load_scifact("test"), load_scifact("train"))
    queries = list(dict.fromkeys(text for wanted in sets for text in wanted.queries.values()))
    with start_owner(home, models_dir) as (client, pid):
        async with client:
            await wait_until_ready(client)
            await time_searches(client, queries[:WARM_UP], 1)
            lone, many = queries[WARM_UP : WARM_UP + ONE_BY_ONE], queries[WARM_UP + ONE_BY_ONE :]
            took = await time_searches(client, lone, 1)
            cpu, start = read_stat(pid).cpu_s, time.perf_counter()
            await time_searches(client, many, AT_ONCE)
            seconds, cpu = time.perf_counter() - start, read_stat(pid).cpu_s - cpu
            memory = psutil.Process(pid).memory_info()
    return {
        "p50_ms": took[len(took) // 2],
        "p99_ms": took[len(took) * 99 // 100],
        "qps": len(many) / seconds,
        "cpu_ms": cpu / len(many) * 1_000,
        "rss_mb": memory.rss / 1e6,
    }


def main() -> None:
    """Build the collection if it is not there, measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, default=HOME)
    parser.add_argument("--models-dir", type=Path, default=os.environ.get("RUBRICA_MODELS_DIR"))
    parser.add_argument("--points", type=int, action="append", default=[], help="grow an index to so many points")
    options = parser.parse_args()
    if not DATA.is_dir():
        print_skipped("retrieval_speed", "the passages are not at ../shared/data")
        return
    models_dir = Path(options.models_dir) if options.models_dir else None
    encoder = open_encoder(EncoderBackend.AUTO, models_dir, options.home / "models", ENCODER_THREADS)
    kept = CachingEncoder(encoder, options.home / "encodings.db")
    # The default collection as well, or its build would begin with the owner and disturb the measurement.
    with open_local(
        options.home, SOTU, load_wikipedia_passages().write_collection(options.home / "corpora"), encoder=lambda: kept
    ):
        pass
    figures = asyncio.run(measure_searches(options.home, models_dir))
    for points in options.points:
        command = [sys.executable, "-m", "bench.index_growth", "--home", str(options.home), "--points", str(points)]
        subprocess.run([*command, *(["--models-dir", str(models_dir)] if models_dir else [])], check=True)
    print_result("retrieval_speed", figures)


if __name__ == "__main__":
    main()
