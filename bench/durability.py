"""`python -m bench.durability`: `kill -9` of the worker, the API or the Temporal server at a random moment of each run.

First every question is answered without interruption. Then each is asked again, alone, and one process is killed inside a
chosen phase; the stack's own supervisor restarts it. The report must be the same byte for byte, no event may be
missing from the stream, and the model server's bill must show no call whose answer was already stored.
"""

import argparse
import asyncio
import os
import random
import signal
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from bench import records
from bench.billing import Billing, compare_bill
from bench.client import ask, count_missing
from bench.phases import AIMED_AT, Phase, count_section_turns, count_turns_before_sections, find_windows, has_begun, phase_of
from bench.questions import EFFORT, make_question
from bench.result import print_result
from bench.stack import ModelStubProcess, RunningStack, start_model_stub, start_stack
from rubrica_client import reports
from rubrica_client.models import Citation, RunEvent
from tests.support.model_stub_bill import read_bill

MODEL_LATENCY = timedelta(milliseconds=200)
TARGETS = ("worker", "api", "temporal")
CONTROLS_AT_ONCE = 6
BETWEEN_RUNS = timedelta(seconds=1)


@dataclass(frozen=True)
class UndisturbedRun:
    """An uninterrupted run: its log and the report that its reader got."""

    events: Sequence[RunEvent]
    markdown: bytes
    citations: Sequence[Citation]
    wall_s: float


@dataclass(frozen=True)
class KillAim:
    """Which process to kill, and how far into which phase (0 is its begin, 1 its usual end)."""

    target: str
    phase: Phase
    fraction: float


@dataclass(frozen=True)
class KillOutcome:
    """The result of a run whose process was killed."""

    aim: KillAim
    hit: Phase
    completed: bool
    identical: bool
    missed_events: int
    billing: Billing
    reopened: int
    wall_s: float


async def run_undisturbed(stack: RunningStack, number: int) -> UndisturbedRun:
    """Run a question without interruption."""
    started = time.perf_counter()
    run_id = await ask(stack.client, make_question(number), effort=EFFORT)
    events = [event async for event in stack.client.events(run_id)]
    wall_s = time.perf_counter() - started
    if events[-1].payload["status"] != "completed":
        raise RuntimeError(f"an undisturbed run ended as {events[-1].payload}")
    return UndisturbedRun(events, *await read_outputs(stack, run_id), wall_s)


async def read_outputs(stack: RunningStack, run_id: str) -> tuple[bytes, Sequence[Citation]]:
    """Read the report in Markdown, and its citations (all of evidence.json that does not name the run)."""
    markdown = await stack.client.send(reports.markdown(run_id))
    return markdown, (await stack.client.send(reports.evidence(run_id))).citations


async def run_interrupted(
    stack: RunningStack, stub: ModelStubProcess, number: int, aim: KillAim, control: UndisturbedRun
) -> KillOutcome:
    """Run a question, kill the chosen process, wait for the end and compare."""
    pids = stack.read_pids()
    began, started = time.time(), time.perf_counter()
    run_id = await ask(stack.client, make_question(number), effort=EFFORT)
    events: list[RunEvent] = []
    moved = asyncio.Event()
    killer = asyncio.create_task(kill_in_phase(pids[find_process_name(pids, aim.target)], aim, control, events, moved))
    async for event in stack.client.events(run_id):
        events.append(event)
        moved.set()
    wall_s = time.perf_counter() - started
    killed_at = await killer
    completed = events[-1].payload["status"] == "completed"
    same = completed and await read_outputs(stack, run_id) == (control.markdown, control.citations)
    lines = [line for line in read_bill(stub.bill) if line.start >= began]
    before_kill = [e for e in events if e.at.timestamp() <= killed_at]
    await stack.wait_until_settled(pids)
    return KillOutcome(
        aim=aim,
        hit=phase_of(before_kill, count_turns_before_sections(control.events), count_section_turns(control.events)),
        completed=completed,
        identical=same,
        missed_events=count_missing(events),
        billing=compare_bill(lines, await records.read_model_turns(stack.database, run_id)),
        reopened=await records.count_reopened(stack.database, run_id),
        wall_s=wall_s,
    )


async def kill_in_phase(
    pid: int, aim: KillAim, control: UndisturbedRun, events: Sequence[RunEvent], moved: asyncio.Event
) -> float:
    """Kill `pid` in the chosen phase; return the Unix time. When the run ends before that phase, nothing is killed."""
    begin, end = find_windows(control.events)[aim.phase]
    outline_turns = count_turns_before_sections(control.events)
    while not has_begun(events, aim.phase, outline_turns):
        moved.clear()
        await moved.wait()
    await asyncio.sleep(aim.fraction * (end - begin).total_seconds())
    os.kill(pid, signal.SIGKILL)
    return time.time()


def find_process_name(pids: dict[str, int], target: str) -> str:
    """Return the supervisor's name for a target."""
    return next(name for name in pids if name.lower() == target)


def draw_aims(runs: int, seed: int) -> list[KillAim]:
    """Draw kills of every process in every phase, evenly, at moments that `seed` decides."""
    dice = random.Random(seed)
    pairs = [(target, aimed) for aimed in AIMED_AT for target in TARGETS]
    return [KillAim(*pairs[n % len(pairs)], fraction=dice.random()) for n in range(runs)]


def write_table(outcomes: Sequence[KillOutcome]) -> str:
    """Write the kills by phase and process as Markdown."""
    counts = Counter((o.hit, o.aim.target) for o in outcomes)
    lines = [f"| phase | {' | '.join(TARGETS)} |", f"|---|{'---|' * len(TARGETS)}"]
    hit = [p for p in Phase if any(o.hit is p for o in outcomes)]
    return "\n".join([*lines, *(f"| {p} | {' | '.join(str(counts[p, t]) for t in TARGETS)} |" for p in hit)])


def collect_figures(outcomes: Sequence[KillOutcome]) -> dict[str, float]:
    """Return the figures under their published names."""
    billing = sum((o.billing for o in outcomes), Billing(0, 0, 0, 0))
    return {
        "runs": len(outcomes),
        "completed": sum(o.completed for o in outcomes),
        "double_billed": billing.double_billed,
        "repeated_in_flight": billing.repeated_in_flight,
        "identical_reports": sum(o.identical for o in outcomes),
        "calls": billing.calls,
        "unstored": billing.unstored,
        "missed_events": sum(o.missed_events for o in outcomes),
        "median_wall_s": statistics.median(o.wall_s for o in outcomes),
    }


async def run(folder: Path, options: argparse.Namespace) -> None:
    shots = draw_aims(options.runs, options.seed)
    jitter = ("--jitter-ms", "40")  # parallel agents finish in an order that differs from the one they began in
    with start_model_stub(folder / "bill", MODEL_LATENCY, jitter) as stub:
        async with start_stack(options.home or folder / "home", stub) as stack:
            controls: list[UndisturbedRun] = []
            for first in range(0, len(shots), CONTROLS_AT_ONCE):
                numbers = range(first, min(first + CONTROLS_AT_ONCE, len(shots)))
                controls += await asyncio.gather(*(run_undisturbed(stack, number) for number in numbers))
            print(f"{len(controls)} undisturbed runs: median {statistics.median(c.wall_s for c in controls):.1f} s", flush=True)
            outcomes: list[KillOutcome] = []
            for number, (aim, control) in enumerate(zip(shots, controls, strict=True)):
                await asyncio.sleep(BETWEEN_RUNS.total_seconds())
                outcomes.append(await run_interrupted(stack, stub, number, aim, control))
                print(write_line(number, outcomes[-1]), flush=True)
    print(write_table(outcomes))
    print_result("durability", collect_figures(outcomes))


def write_line(number: int, outcome: KillOutcome) -> str:
    """Describe one run in a line."""
    billing = outcome.billing
    result = f"{'same report' if outcome.identical else 'DIFFERENT REPORT' if outcome.completed else 'NOT COMPLETED'}"
    return (
        f"{number:3d} {outcome.aim.target:8s} in {outcome.hit:18s} {result}; {outcome.wall_s:5.1f} s, {billing.calls} calls, "
        f"{billing.double_billed} double, {billing.repeated_in_flight} in flight, {billing.unstored} lost, "
        f"{outcome.reopened} stages reopened, {outcome.missed_events} events missed"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=36)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--home", type=Path, help="state folder to use and keep; default: a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rubrica-bench-") as folder:
        asyncio.run(run(Path(folder), options))


if __name__ == "__main__":
    main()
