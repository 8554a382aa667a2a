"""`python -m bench.resume`: recipes train under kill -9 at random moments.

Each recipe is trained once in peace, at toy size and with a checkpoint at each step. Then the same run is killed again and again,
at moments drawn over the time that it took in peace, and begun anew when it ends by itself. Every finished run must have the
curves, the figures, the collector's state and the weights of the one in peace, bit for bit. `steps_redone` is the most steps
that one kill had redone: those that were logged, and in no checkpoint. With `--recipe` and `--add` the recipes are measured in
pieces whose figures add up.
"""

import argparse
import asyncio
import hashlib
import random
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.result import add_figures, print_result
from bench.resume_runs import ANSWERS, ToyRun, TrainingProcesses, write_toy_run
from tests.support.model_stub import ModelStub, serve_model_stub
from training.recipes.catalogue import LOCATIONS
from training.recipes.run_folder import CHECKPOINTS, REPORT, TrainingFolder

CLOCKS = frozenset({"step_time"})
WEIGHTS = ("*.safetensors", "*.onnx")
STATES = "rollouts-*.json"
MOVED = "grad_norm"
LARGEST = frozenset({"steps_redone"})


@dataclass(frozen=True, slots=True)
class TrainedRun:
    """What a finished run left: curves, figures, digests of weights and states, and whether its report says that it ended."""

    curves: Sequence[tuple[int, Mapping[str, float]]]
    figures: Mapping[str, float]
    digests: Mapping[str, str]
    is_reported: bool


@dataclass
class Kills:
    """What the kills showed."""

    kills: int = 0
    runs: int = 0
    identical: int = 0
    redone: int = 0
    at_steps: list[int] = field(default_factory=list)


@dataclass
class ResumeBench:
    """One recipe's run, and the processes that train it."""

    run: ToyRun
    processes: TrainingProcesses
    draw: random.Random
    seen: Kills = field(default_factory=Kills)

    def measure(self, kills: int) -> Kills:
        """Kill as often as wanted, then let the last run end."""
        began = time.monotonic()
        self._finish()
        took = time.monotonic() - began
        wanted = self._take_away()
        require_moved(wanted, self.run.recipe)
        print(f"{self.run.recipe}: {len(wanted.curves)} lines of curves in {took:.1f} s", flush=True)
        while self.seen.kills < kills:
            if not self._kill_after(self.draw.uniform(0, took)):
                self._compare(wanted)
        self._finish()
        self._compare(wanted)
        return self.seen

    def _finish(self) -> None:
        process = self.processes.start_run(self.run)
        process.join()
        self._require_success(process.exitcode)

    def _kill_after(self, seconds: float) -> bool:
        """Kill a process that trains after some time, and count what it had made in vain; return False where it ended before."""
        process = self.processes.start_run(self.run)
        process.join(seconds)
        if process.exitcode is not None:
            self._require_success(process.exitcode)
            return False
        process.kill()
        process.join()
        self.seen.kills += 1
        made, kept = count_steps(self.run.out)
        self.seen.redone = max(self.seen.redone, made - kept)
        self.seen.at_steps.append(made)
        return True

    def _require_success(self, code: int | None) -> None:
        if code != 0:
            raise RuntimeError(f"{self.run.recipe}: ended with {code}: {self.run.log.read_text()[-3_000:]}")

    def _compare(self, wanted: TrainedRun) -> None:
        self.seen.runs += 1
        found = self._take_away()
        self.seen.identical += found == wanted
        if found != wanted:
            print(
                f"{self.run.recipe}: differs after kills at steps {self.seen.at_steps}: {tell_difference(found, wanted)}",
                flush=True,
            )

    def _take_away(self) -> TrainedRun:
        found = read_run(TrainingFolder(self.run.out))
        shutil.rmtree(self.run.out)
        return found


def count_steps(out: Path) -> tuple[int, int]:
    """Return the last step that was logged, and the one of the checkpoint from which the run goes on."""
    folder = TrainingFolder(out)
    made = max((each.step for each in folder.read_metrics()), default=0)
    return made, made if folder.is_finished else folder.checkpoint_step


def read_run(folder: TrainingFolder) -> TrainedRun:
    """Read what a finished run left. Logged times are left out."""
    curves = [(m.step, {name: v for name, v in m.values.items() if name not in CLOCKS}) for m in folder.read_metrics()]
    kept = folder.path / CHECKPOINTS / f"checkpoint-{folder.checkpoint_step}"
    files = [*(path for pattern in WEIGHTS for path in folder.model.glob(pattern)), *kept.glob(STATES)]
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}
    return TrainedRun(curves, folder.read_figures(), digests, "finished:" in (folder.path / REPORT).read_text())


def require_moved(run: TrainedRun, recipe: str) -> None:
    """Require that the weights moved: a run that learns nothing resumes anyhow."""
    norms = [values[MOVED] for _, values in run.curves if MOVED in values]
    if norms and max(norms) < 1e-6:
        raise RuntimeError(f"{recipe}: the toy run has no gradient, so it would show nothing")


def tell_difference(found: TrainedRun, wanted: TrainedRun) -> str:
    """Name what differs."""
    curves = [f"{a} instead of {b}" for a, b in zip(found.curves, wanted.curves, strict=False) if a != b][:1]
    parts = [name for name in ("figures", "digests", "is_reported") if getattr(found, name) != getattr(wanted, name)]
    return f"{len(found.curves)} lines of curves instead of {len(wanted.curves)} {curves} {parts}"


async def measure_all(folder: Path, recipes: Sequence[str], kills: int, seed: int) -> dict[str, float]:
    """Measure every recipe in a folder; return the figures over all."""
    processes, total = TrainingProcesses(), Kills()
    async with serve_model_stub(ModelStub()) as judge:
        for recipe in recipes:
            place = folder / recipe
            place.mkdir()
            run = write_toy_run(place, recipe, judge.base_url)
            if recipe in ANSWERS:
                await asyncio.to_thread(processes.write_policy, recipe, place)
            bench = ResumeBench(run, processes, random.Random(f"{seed} {recipe}"))
            seen = await asyncio.to_thread(bench.measure, kills)
            print(f"{recipe}: {seen}", flush=True)
            total.kills += seen.kills
            total.runs += seen.runs
            total.identical += seen.identical
            total.redone = max(total.redone, seen.redone)
    return {
        "recipes": len(recipes),
        "kills": total.kills,
        "runs": total.runs,
        "identical": total.identical,
        "steps_redone": total.redone,
    }


def main() -> None:
    """Kill and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10, help="how many for each recipe")
    parser.add_argument("--recipe", action="append", choices=list(LOCATIONS), help="only this recipe (repeatable)")
    parser.add_argument(
        "--add", type=Path, help="add the figures of an earlier run of other recipes, from the file with its last line"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    recipes = options.recipe or list(LOCATIONS)
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure_all(Path(folder), recipes, options.kills, options.seed))
    print_result("resume", add_figures(figures, options.add, LARGEST))


if __name__ == "__main__":
    main()
