"""`python -m bench.startup`: measure how long a person waits for the second `rubrica up`, the first event and the first report.

Everything runs as a user runs it, through the command line, in an installed environment and a folder without state. No
model is configured. With `--make` the two starts go through `make up` of this checkout.
"""

import argparse
import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from bench.client import ask, open_client, watch
from bench.result import print_result
from infra.local.home import Home
from infra.local.ports import LOOPBACK, find_free_port
from rubrica_client import AsyncClient

QUESTION = "How did presidents justify tariffs before 1900?"
RUBRICA = (sys.executable, "-m", "infra.cli.main")
ROOT = Path(__file__).resolve().parent.parent
STOP_LIMIT = timedelta(seconds=60)


@contextlib.asynccontextmanager
async def start_product(command: Sequence[str], folder: Path, port: int) -> AsyncIterator[tuple[AsyncClient, str, float]]:
    """Start the product; yield a client, the first accepted run, and the seconds from the command to its acceptance."""
    started = time.perf_counter()
    with run_process(command, folder, port):
        home = Home(folder / "home")
        home.root.mkdir(exist_ok=True)
        async with open_client(f"http://{LOOPBACK}:{port}", str(home.ensure_api_key())) as client:
            run_id = await ask(client, QUESTION)
            yield client, run_id, time.perf_counter() - started


@contextlib.contextmanager
def run_process(command: Sequence[str], folder: Path, port: int) -> Iterator[None]:
    """Run the command, and end it as Ctrl-C does."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RUBRICA_HOME": str(folder / "home"), "RUBRICA_API_PORT": str(port)}
    with (folder / "up.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(STOP_LIMIT.total_seconds())


async def measure_first_event_s(client: AsyncClient) -> float:
    """Return the seconds from sending a question to the first event that a worker wrote about it (`stage_started`)."""
    started = time.perf_counter()
    run_id = await ask(client, QUESTION)
    async with contextlib.aclosing(client.events(run_id)) as events:
        async for event in events:
            if event.type == "stage_started":
                break
    return time.perf_counter() - started


def measure_first_report_s(folder: Path) -> float:
    """Return the seconds of `rubrica ask` on a machine that has the packages and nothing else."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RUBRICA_HOME": str(folder / "fresh")}
    started = time.perf_counter()
    with (folder / "ask.log").open("wb") as log:
        subprocess.run([*RUBRICA, "ask", QUESTION], cwd=folder, env=environment, stdout=log, stderr=log, check=True)
    took = time.perf_counter() - started
    found = list(folder.glob("reports/*/report.md")) + list(folder.glob("reports/*/evidence.json"))
    if len(found) != 2 or not all(path.stat().st_size for path in found):
        raise RuntimeError(f"no report was written: {(folder / 'ask.log').read_text()[-2000:]}")
    return took


async def run(folder: Path, options: argparse.Namespace) -> None:
    report_s = measure_first_report_s(folder)
    command = ("make", "up") if options.make else (*RUBRICA, "up")
    port = find_free_port()
    async with start_product(command, folder, port) as (client, run_id, first_s):
        await watch(client, run_id)
    async with start_product(command, folder, port) as (client, run_id, ready_s):
        await watch(client, run_id)
        event_s = await measure_first_event_s(client)
    print(f"the first start, with nothing there, took {first_s:.1f} s")
    print_result("startup", {"ready_s": ready_s, "first_event_s": event_s, "first_report_s": report_s})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--make", action="store_true", help="start through `make up`")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rubrica-bench-") as folder:
        asyncio.run(run(Path(folder), options))


if __name__ == "__main__":
    main()
