"""`python -m bench.overhead`: measure a report's cost besides the model: CPU by process, and wall time against the critical path.

The whole local stack runs with a model stub that answers after 200 ms. Every run is watched through its event stream, as the
command line does. A report's wall time is from sending the question to the event that says it is done.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from app.domain.plan import ResearchPlan
from app.domain.trajectory import TurnKind
from bench import records
from bench.client import ask
from bench.processes import measure_cpu_by_name, read_load_average
from bench.questions import EFFORT, make_question
from bench.result import print_result
from bench.schedule import Latencies, count_calls_by_kind, find_critical_path, sum_agent_seconds
from bench.stack import RunningStack, start_model_stub, start_stack
from rubrica_client import runs

MODEL_LATENCY = timedelta(milliseconds=200)
ROUNDS = {1: 6, 8: 3, 64: 2}
WORKER = "worker"


@dataclass(frozen=True)
class WatchedRun:
    """One finished run: its wall time in seconds and its size."""

    wall_s: float
    critical_s: float
    calls: Counter[TurnKind]


@dataclass(frozen=True)
class LoadLevel:
    """The measurements with `at_once` runs in flight. CPU seconds are per report, by process."""

    at_once: int
    runs: Sequence[WatchedRun]
    cpu_s: dict[str, float]
    elapsed_s: float

    @property
    def all_cpu_s(self) -> float:
        """CPU seconds per report of all processes of the product together."""
        return sum(self.cpu_s.values())

    @property
    def wall_ratio(self) -> float:
        """Median wall time over median critical path."""
        walls, paths = [r.wall_s for r in self.runs], [r.critical_s for r in self.runs]
        return statistics.median(walls) / statistics.median(paths)

    @property
    def reports_per_s(self) -> float:
        """Reports finished per second."""
        return len(self.runs) / self.elapsed_s

    def write_line(self) -> str:
        """Describe the level in one line."""
        model, tool = self.runs[0].calls[TurnKind.MODEL], self.runs[0].calls[TurnKind.TOOL]
        cpu = ", ".join(f"{name} {s:.3f}" for name, s in sorted(self.cpu_s.items()))
        return (
            f"{self.at_once:3d} at once: {model} model and {tool} tool turns; CPU-s a report: {cpu}, all"
            f" {self.all_cpu_s:.3f}; wall {statistics.median(r.wall_s for r in self.runs):.2f} s, "
            f"ratio {self.wall_ratio:.2f}; {self.reports_per_s:.2f} reports/s (load {read_load_average():.1f})"
        )


async def watch_one_run(stack: RunningStack, number: int, latencies: Latencies) -> WatchedRun:
    """Ask a question, watch it to its end, and compute its critical path from what it stored."""
    started = time.perf_counter()
    run_id = await ask(stack.client, make_question(number), effort=EFFORT)
    async for _ in stack.client.events(run_id):
        wall_s = time.perf_counter() - started
    run = await stack.client.send(runs.get(run_id))
    if run.status != "completed" or run.plan is None:
        raise RuntimeError(f"run {run.id} ended as {run.status}: {run.detail}")
    turns = await records.read_turn_kinds(stack.database, run_id)
    path = find_critical_path(ResearchPlan(**run.plan.model_dump()), sum_agent_seconds(turns, latencies))
    return WatchedRun(wall_s, path.total_seconds(), count_calls_by_kind(turns))


async def measure(stack: RunningStack, at_once: int, rounds: int, first: int, latencies: Latencies) -> LoadLevel:
    """Do `at_once` runs together, `rounds` times."""
    pids = stack.read_pids()
    before = measure_cpu_by_name(pids)
    started = time.perf_counter()
    watched: list[WatchedRun] = []
    for n in range(rounds):
        numbers = range(first + n * at_once, first + (n + 1) * at_once)
        watched += await asyncio.gather(*(watch_one_run(stack, number, latencies) for number in numbers))
    elapsed_s = time.perf_counter() - started
    used = {name: (after - before[name]) / len(watched) for name, after in measure_cpu_by_name(pids).items()}
    return LoadLevel(at_once, watched, used, elapsed_s)


def collect_figures(levels: dict[int, LoadLevel]) -> dict[str, float]:
    """Return the figures under their published names."""
    found: dict[str, float] = {f"cpu_s_{n}": level.cpu_s[WORKER] for n, level in levels.items()}
    found |= {f"all_cpu_s_{n}": level.all_cpu_s for n, level in levels.items()}
    found |= {f"wall_ratio_{n}": level.wall_ratio for n, level in levels.items()}
    return found | {f"reports_per_s_{n}": level.reports_per_s for n, level in levels.items()}


async def run(folder: Path, options: argparse.Namespace) -> None:
    latencies = Latencies(MODEL_LATENCY, timedelta(milliseconds=options.tool_ms))
    with start_model_stub(folder / "bill", MODEL_LATENCY) as stub:
        async with start_stack(options.home or folder / "home", stub) as stack:
            await measure(stack, 1, 1, 900, latencies)  # the first run of a process pays for imports
            levels: dict[int, LoadLevel] = {}
            first = 0
            for at_once in options.levels:
                rounds = options.rounds or ROUNDS.get(at_once, 1)
                levels[at_once] = await measure(stack, at_once, rounds, first, latencies)
                print(levels[at_once].write_line(), flush=True)
                first += at_once * rounds
    print_result("overhead", collect_figures(levels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="state folder to use and keep; default: a temporary one")
    parser.add_argument("--levels", type=int, nargs="+", default=list(ROUNDS), help="runs at once")
    parser.add_argument("--rounds", type=int, help="rounds at each level")
    parser.add_argument("--tool-ms", type=float, default=0.0, help="tool latency counted into the critical path (0: strictest)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rubrica-bench-") as folder:
        asyncio.run(run(Path(folder), options))


if __name__ == "__main__":
    main()
