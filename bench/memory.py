"""`python -m bench.memory`: measure the API's and the worker's resident memory, and what one more concurrent run adds to both.

Calls to the model stub are slow here (3 s), so that all runs of a level are in flight together. Peaks are compared: Python
returns little memory to the system, so the small level comes first, in the same processes. Before it, the bench does as many
runs as the large level has, few at a time: they fill the caches of words, patterns and prompts, which are no run's memory.
"""

import argparse
import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from bench.client import ask, watch
from bench.processes import measure_resident_mib
from bench.questions import EFFORT, make_question
from bench.result import print_result
from bench.stack import ModelStubProcess, RunningStack, start_model_stub, start_stack

MODEL_LATENCY = timedelta(seconds=3)
SAMPLE = timedelta(seconds=0.25)
WARM_LATENCY = timedelta(milliseconds=50)
FEW, MANY = 8, 128


@dataclass
class MemoryPeaks:
    """The most that each process had resident, in MiB."""

    mib: dict[str, float] = field(default_factory=dict)

    def note(self, name: str, mib: float) -> None:
        """Take in a sample."""
        self.mib[name] = max(self.mib.get(name, 0.0), mib)


@contextlib.asynccontextmanager
async def sample_memory(pids: dict[str, int]) -> AsyncIterator[MemoryPeaks]:
    """Sample resident memory while the body runs."""
    peaks = MemoryPeaks()

    async def sample() -> None:
        while True:
            for name, pid in pids.items():
                peaks.note(name, measure_resident_mib(pid))
            await asyncio.sleep(SAMPLE.total_seconds())

    sampling = asyncio.create_task(sample())
    try:
        yield peaks
    finally:
        sampling.cancel()


async def complete_run(stack: RunningStack, number: int) -> None:
    """Watch one run to its end."""
    run = await watch(stack.client, await ask(stack.client, make_question(number), effort=EFFORT))
    if run.status != "completed":
        raise RuntimeError(f"run {run.id} ended as {run.status}: {run.detail}")


async def warm_up(stack: RunningStack, stub: ModelStubProcess) -> None:
    """Fill the caches."""
    await stub.control(stack.session, {"latency_ms": WARM_LATENCY / timedelta(milliseconds=1)})
    for first in range(0, MANY, FEW):
        await asyncio.gather(*(complete_run(stack, number) for number in range(first, first + FEW)))
    await stub.control(stack.session, {"latency_ms": MODEL_LATENCY / timedelta(milliseconds=1)})


async def measure_peaks(stack: RunningStack, at_once: int, first: int) -> dict[str, float]:
    """Return the peak resident memory with so many runs in flight."""
    async with sample_memory(stack.read_pids()) as peaks:
        await asyncio.gather(*(complete_run(stack, number) for number in range(first, first + at_once)))
    print(f"{at_once:3d} runs in flight: {', '.join(f'{name} {mib:.0f} MiB' for name, mib in peaks.mib.items())}", flush=True)
    return peaks.mib


async def run(folder: Path, options: argparse.Namespace) -> None:
    with start_model_stub(folder / "bill", MODEL_LATENCY) as stub:
        async with start_stack(options.home or folder / "home", stub) as stack:
            await warm_up(stack, stub)
            few = await measure_peaks(stack, FEW, MANY)
            many = await measure_peaks(stack, MANY, MANY + FEW)
    added = sum(many[name] - few[name] for name in ("api", "worker"))
    print_result("memory", {"api_mb": few["api"], "worker_mb": few["worker"], "per_run_mb": added / (MANY - FEW)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="state folder to use and keep; default: a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rubrica-bench-") as folder:
        asyncio.run(run(Path(folder), options))


if __name__ == "__main__":
    main()
