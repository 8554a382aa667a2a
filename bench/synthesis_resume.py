"""`python -m bench.synthesis_resume`: kinds of training sets are made under kill -9 at random moments.

Each set is made once in peace, by the command of the product and a stub of a model behind a socket. Then the same command is
killed again and again, and begun anew when it ends by itself. Every finished set must have the bytes of the one made in peace.
`repeated_calls` counts the calls whose answer was stored before the kill and was asked for again after it. The sets are small:
from the default corpus, from an invented world, and from a few runs over it, which are recorded first. With `--kind` and
`--add` the kinds are measured in pieces whose figures add up.
"""

import argparse
import asyncio
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from bench.result import add_figures, print_result
from bench.synthesis_stub.serving import serve_synthesis_stub
from retrieval.search.in_process import SOTU, open_local
from retrieval.search.library import DEFAULT_COLLECTION
from tests.support.model_stub import ModelStub
from tests.support.model_stub_bill import Bill, read_bill
from tests.support.recorded_demo import FROM_RUNS, WORLD, describe_world, list_inputs, record_runs
from tests.support.stack import RUBRICA, command_environment
from training.synthesis.training_set.folder import ANSWERS, WORK

FROM_CORPUS = {
    "evidence-trees": ("--corpus", DEFAULT_COLLECTION, "--rows", "4"),
    "graph-queries": ("--corpus", WORLD, "--rows", "30"),
}
KINDS = (*FROM_CORPUS, *FROM_RUNS)
ROWS = "40"
OF_EACH = 3
LATENCY = timedelta(milliseconds=20)
SLOW = {
    "trajectories": timedelta(seconds=1.5),
    "report-data": timedelta(seconds=0.4),
    "preference-pairs": timedelta(seconds=0.8),
    "self-samples": timedelta(seconds=0.2),
}
"""The latency of a model for kinds with few calls: making the set must take longer than loading the program."""
EARLIEST, LATEST = 0.1, 0.8
"""A kill comes after this share of the time that the set takes in peace."""


@dataclass
class Kills:
    """What the kills showed."""

    kills: int = 0
    finished: int = 0
    identical: int = 0
    repeated: int = 0


@dataclass
class ResumeBench:
    """One kind of set, its stub and its folders."""

    kind: str
    stub: ModelStub
    bill: Path
    folder: Path
    home: Path
    source: Sequence[str]
    draw: random.Random
    seen: Kills = field(default_factory=Kills)
    _stored: list[tuple[float, set[str]]] = field(default_factory=list, init=False)

    async def measure(self, kills: int) -> Kills:
        """Kill as often as wanted, then let the last set end."""
        peaceful, cut = self.folder / "peaceful" / self.kind, self.folder / "cut" / self.kind
        began = time.monotonic()
        await self._finish(await self._start(peaceful))
        took = time.monotonic() - began
        wanted = digest_set(peaceful)
        while self.seen.kills < kills:
            process = await self._start(cut)
            try:
                await asyncio.wait_for(self._finish(process), self.draw.uniform(EARLIEST, LATEST) * took)
            except TimeoutError:
                await self._kill(process, cut)
                continue
            self._compare(cut, wanted)
        await self._finish(await self._start(cut))
        self._compare(cut, wanted)
        return self.seen

    async def _start(self, out: Path) -> Process:
        settings = {"RUBRICA_LLM_BASE_URL": self.stub.base_url, "RUBRICA_LLM_MODEL": "stub", "RUBRICA_HOME": str(self.home)}
        command = [*RUBRICA, "data", "make", self.kind, *self.source, "--out", str(out)]
        return await asyncio.create_subprocess_exec(*command, env=command_environment(**settings), stdout=DEVNULL, stderr=PIPE)

    async def _finish(self, process: Process) -> None:
        _, said = await process.communicate()
        if process.returncode != 0:
            raise RuntimeError(f"{self.kind}: {said.decode()[-2_000:]}")

    async def _kill(self, process: Process, out: Path) -> None:
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
        self.seen.kills += 1
        self._stored.append((time.time(), read_stored(out)))

    def _compare(self, out: Path, wanted: str) -> None:
        """Compare a finished set, count what was asked for it though it was stored before a kill, and take it away."""
        self.seen.finished += 1
        self.seen.identical += digest_set(out) == wanted
        asked = list(read_bill(self.bill))
        self.seen.repeated += sum(line.start > at and line.key in stored for at, stored in self._stored for line in asked)
        self._stored.clear()
        shutil.rmtree(out)


def read_stored(out: Path) -> set[str]:
    """Return the digests of the requests whose answers are stored."""
    path = out / ANSWERS
    if not path.exists():
        return set()
    with sqlite3.connect(path) as answers:
        begun = answers.execute("SELECT name FROM sqlite_master").fetchall()  # a kill may come before the table is made
        return {row[0] for row in answers.execute("SELECT asked FROM answers")} if begun else set()


def digest_set(folder: Path) -> str:
    """Return one digest of all files of a finished set."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and WORK not in path.parts):
        digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


async def measure_all(folder: Path, kinds: Sequence[str], kills: int, seed: int) -> dict[str, float]:
    """Measure every kind in a folder; return the figures over all."""
    home = folder / "home"
    total = Kills()
    open_local(home, SOTU, describe_world(folder)).close()
    if any(kind in FROM_RUNS for kind in kinds):
        await record_small_runs(folder / "runs")
    for kind in kinds:
        bill = folder / f"{kind}.bill"
        source = FROM_CORPUS.get(kind) or ("--rows", ROWS, *list_inputs(kind, folder / "runs"))
        async with serve_synthesis_stub(stub=ModelStub(latency=SLOW.get(kind, LATENCY), bill=Bill(bill))) as stub:
            draw = random.Random(f"{seed} {kind}")
            seen = await ResumeBench(kind, stub, bill, folder, home, source, draw).measure(kills)
        print(f"{kind}: {seen}", flush=True)
        total.kills += seen.kills
        total.finished += seen.finished
        total.identical += seen.identical
        total.repeated += seen.repeated
    return {
        "kills": total.kills,
        "finished": total.finished,
        "identical": total.identical,
        "repeated_calls": total.repeated,
    }


async def record_small_runs(folder: Path) -> None:
    """Record two runs over the invented world. They make vectors of it, so it is in a home of its own."""
    open_local(folder / "home", describe_world(folder)).close()
    async with serve_synthesis_stub() as stub:
        await record_runs(folder, {"RUBRICA_LLM_BASE_URL": stub.base_url, "RUBRICA_HOME": str(folder / "home")}, OF_EACH)


def main() -> None:
    """Kill and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="how many for each kind of set")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this kind (repeatable)")
    parser.add_argument(
        "--add", type=Path, help="add the figures of an earlier run of other kinds, from the file with its last line"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    kinds = options.kind or list(KINDS)
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure_all(Path(folder), kinds, options.kills, options.seed))
    print_result("synthesis_resume", add_figures(figures, options.add))


if __name__ == "__main__":
    main()
