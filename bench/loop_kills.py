"""`python -m bench.loop_kills`: `kill -9` of whatever takes part in a cycle of retraining, while it trains.

A cycle runs on the product's own stack: its training is a real recipe on a tiny policy, which a real server serves; its other
processes are the toys of `tests/workflows/durable/retraining/toy_steps.py`. Worker, API, Temporal, trainer and model server are
killed at random moments. At the end there must be one version and one promotion, and a kill of the trainer must have cost at most
the step in hand.
"""

import argparse
import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.database.tenancy import Tenant
from app.domain.retraining import Cycle
from app.domain.split import Split
from app.models.service.acts import Actor
from app.models.service.cycles import Cycles
from app.models.service.temporal_gateway import TemporalCycles
from bench.result import print_result
from bench.stack import ROOT, RunningStack, start_stack
from tests.support.training_sets import write_set
from tests.training.recipes.enclosing_policy import save_enclosing_policy
from tests.workflows.durable.retraining import toy_steps
from training.recipes.report_rl.config import ReportDataSection, Writer
from training.recipes.report_rl.data import read_tasks
from training.recipes.run_folder import TrainingFolder

TARGETS = ("trainer", "worker", "trainer", "temporal", "model server", "api")
PORT = 18_451
BENCH = Actor("bench", Tenant(LOCAL_ORGANISATION))
RECIPE = """
[model]
base = "{base}"
[data]
sets = ["{rows}"]
max_tokens = 2048
[optimizer]
learning_rate = 1e-4
batch_size = 2
epochs = {epochs}
[adapter]
rank = 4
alpha = 8
[run]
device = "cpu"
log_every = 1
save_every = 1
keep = 2
"""
PLAN = """
name = "kills"
since = 2026-01-01T00:00:00Z
canary = {{longest = "PT1S", least_runs = 0}}
[[stages]]
name = "writer"
role = "writer"
recipe = "sft_cold_start"
config = "recipe.toml"
kind = "trajectories"
inputs = ["{rows}"]
gate = "gate.toml"
exam = "exam.toml"
server = {{address = "http://127.0.0.1:{port}/v1", base = "base"}}
"""


@dataclass
class LoopUnderFire:
    """A cycle, the parts that may be killed, and what kills of the trainer cost in steps."""

    stack: RunningStack
    cycles: Cycles
    folder: Path
    server: "ModelServerProcess"
    redone: list[int] = field(default_factory=list)

    async def kill(self, cycle: UUID, target: str) -> bool:
        """Kill one part and wait until it is there again; False where it was not there to be killed."""
        if target == "model server":
            self.server.kill()
            return True
        if target == "trainer":
            return await self._kill_trainer(cycle)
        pids = self.stack.read_pids()
        os.kill(next(pid for name, pid in pids.items() if name.lower() == target), signal.SIGKILL)
        await self.stack.wait_until_settled(pids)
        return True

    async def _kill_trainer(self, cycle: UUID) -> bool:
        """Kill the process that trains, not its keeper; note how many logged steps its last checkpoint lacks."""
        found = find_process(str(self.folder / str(cycle) / "writer.train"), "training.loop.train")
        run = self.training_run(cycle)
        if found is None or run.checkpoint is None:
            return False
        os.kill(found, signal.SIGKILL)
        logged = max((each.step for each in run.read_metrics()), default=0)
        self.redone.append(max(0, logged - run.checkpoint_step))
        return True

    def training_run(self, cycle: UUID) -> TrainingFolder:
        """Return the folder of the cycle's training run."""
        return TrainingFolder(self.folder / str(cycle) / "writer.train" / "run")

    async def wait_for_end(self, cycle: UUID) -> Cycle:
        """Wait until the cycle has ended."""
        while not (found := await self.cycles.get(cycle)).state.finished:
            await asyncio.sleep(0.5)
        return found


@dataclass
class ModelServerProcess:
    """A real model server, which nobody but this bench starts again."""

    base: Path
    process: "subprocess.Popen[bytes]" = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Start it."""
        command = [sys.executable, "-m", "training.serving", str(self.base), "--port", str(PORT)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        """Kill it, and start it again."""
        self.process.kill()
        self.process.wait()
        self.start()


@contextmanager
def serve_base(base: Path) -> Iterator[ModelServerProcess]:
    """Serve a base until the end of the block."""
    server = ModelServerProcess(base)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()


def find_process(folder: str, module: str) -> int | None:
    """Return the process of a module that works in a folder, by its command line."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if folder in words and module in words and "--" not in words:
                return int(entry.name)
    return None


def write_python(folder: Path) -> Path:
    """Write an interpreter for steps: the one of this bench for training, and toys for the others."""
    script = folder / "python"
    script.write_text(
        f'#!/bin/sh\nif [ "$2" = training.loop.train ]; then exec {sys.executable} "$@"; fi\n'
        f'exec {sys.executable} {toy_steps.__file__} "$@"\n'
    )
    script.chmod(0o755)
    return script


def write_plan(folder: Path, epochs: int) -> Path:
    """Write a plan with its base and rows."""
    folder.mkdir()
    reports = ReportDataSection(sets=(write_set(folder / "report-data", "report-data", 10),))
    # A random policy may say nothing when it is probed, and what says nothing is not served.
    base = save_enclosing_policy(folder / "base", read_tasks(reports, Writer.ONE_CALL, Split.TRAIN))
    rows = write_set(folder / "trajectories", "trajectories", 40)
    (folder / "recipe.toml").write_text(RECIPE.format(base=base, rows=rows, epochs=epochs))
    for name in ("gate.toml", "exam.toml"):
        (folder / name).touch()
    (folder / "plan.toml").write_text(PLAN.format(port=PORT, rows=rows))
    return folder / "plan.toml"


@contextlib.asynccontextmanager
async def open_world(folder: Path, epochs: int) -> AsyncIterator[tuple[LoopUnderFire, Path]]:
    """Start the stack and the model server, and write the plan."""
    plan, loop = write_plan(folder / "plan", epochs), folder / "loop"
    loop.mkdir()
    (loop / "script.json").write_text("{}")
    settings = {"RUBRICA_LOOP_DIR": str(loop), "RUBRICA_TRAIN_PYTHON": str(write_python(folder))}
    with serve_base(folder / "plan" / "base") as server:
        async with start_stack(folder / "home", None, settings, indexed=False) as stack:
            address = stack.state.temporal
            assert address is not None
            yield LoopUnderFire(stack, Cycles(stack.database, loop, TemporalCycles(address)), loop, server), plan


async def run(folder: Path, options: argparse.Namespace) -> None:
    dice, killed = random.Random(options.seed), 0
    async with open_world(folder, options.epochs) as (world, plan):
        cycle = (await world.cycles.start(plan, BENCH)).id
        while world.training_run(cycle).checkpoint is None:
            await asyncio.sleep(0.5)
        while killed < options.kills and not (await world.cycles.get(cycle)).state.finished:
            await asyncio.sleep(dice.uniform(1, 6))
            if await world.kill(cycle, target := TARGETS[killed % len(TARGETS)]):
                killed += 1
                print(f"{killed:3d} {target}", flush=True)
        ended = await world.wait_for_end(cycle)
        print(f"the cycle ended: {ended.state} {ended.detail}; {killed} kills, steps redone {world.redone}", flush=True)
        print_result("loop_kills", await collect_figures(world, cycle, killed))


async def collect_figures(world: LoopUnderFire, cycle: UUID, killed: int) -> dict[str, Any]:
    """Return the figures under their published names."""
    promotions = await world.stack.database.fetchval("SELECT count(*) FROM alias_moves WHERE by = 'cycle'")
    versions = await world.stack.database.fetchval("SELECT count(*) FROM model_versions WHERE cycle = $1", cycle)
    return {"kills": killed, "promotions": promotions, "versions": versions, "steps_redone": max(world.redone, default=0)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=20, help="of 20 steps each")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="loop-kills-") as folder:
        asyncio.run(run(Path(folder), options))


if __name__ == "__main__":
    main()
