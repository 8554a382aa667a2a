"""`python -m bench.mutants`: measure the share of small mistakes, planted one at a time in the core, that the tests notice.

cosmic-ray makes the mistakes. bench/mutants.toml says which modules are the core, part by part, and which tests should notice
mistakes in each. Mistakes are drawn with a seed, the same number from each part. The tests run in a copy of the tree. A mistake
that keeps them from ending counts as noticed, since nobody would merge it; such mistakes are also counted apart.
Every mistake that no test noticed is printed.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from itertools import islice, zip_longest
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bench.mutations import Mutation, list_mutations, show_change
from bench.result import print_result

ROOT = Path(__file__).resolve().parent.parent
CORE = Path(__file__).with_suffix(".toml")
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", ".rubrica", "*_cache", "__pycache__")
PYTEST = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-p", "no:cacheprovider"]
NO_TESTS = 5
# A planted mistake may make tests slower; after this many times their usual duration they count as hanging.
SLOWER = 4
AT_LEAST = timedelta(seconds=20)
LAST_WORDS = timedelta(seconds=30)


class MutantOutcome(StrEnum):
    """The result of testing a mistake."""

    KILLED = "killed"
    SURVIVED = "survived"
    TIMED_OUT = "timed out"


class CorePart(BaseModel):
    """A part of the core: its modules (paths or patterns of paths), and the tests that should notice mistakes in them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    modules: tuple[str, ...]
    tests: tuple[str, ...]


class MutatedCore(BaseModel):
    """The core, and cosmic-ray's operators that plant mistakes in it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    operators: tuple[str, ...]
    parts: dict[str, CorePart]


def read_core(file: Path) -> MutatedCore:
    """Read what the core is; unknown words in the file are refused."""
    return MutatedCore.model_validate(tomllib.loads(file.read_text()))


def draw_mutations(root: Path, core: MutatedCore, parts: Iterable[str], number: int, seed: int) -> list[tuple[str, Mutation]]:
    """Draw mistakes in turn from each part, as many as asked or as there are; each with the name of its part.

    Raises:
        ValueError: a pattern of modules matches nothing.
    """
    queues = []
    for name in parts:
        found = [
            each for module in _find_modules(root, core.parts[name]) for each in list_mutations(root, module, core.operators)
        ]
        random.Random(f"{seed} {name}").shuffle(found)
        queues.append([(name, each) for each in found])
    return list(islice((each for row in zip_longest(*queues) for each in row if each is not None), number))


def _find_modules(root: Path, part: CorePart) -> list[str]:
    modules = {}
    for pattern in part.modules:
        found = sorted(root.glob(pattern))
        if not found:
            raise ValueError(f"no module matches {pattern}")
        modules.update({path.relative_to(root).as_posix(): path for path in found})
    return list(modules)


class TreeCopy:
    """A private copy of the tree in which tests run."""

    def __init__(self, folder: Path, root: Path = ROOT) -> None:
        self.root = folder / "tree"
        self.output = folder / "output"
        shutil.copytree(root, self.root, ignore=NOT_COPIED)

    def try_mutation(self, mutation: Mutation, tests: Sequence[str], limit: timedelta) -> tuple[MutantOutcome, str]:
        """Plant a mistake, run the tests and take it out again; the outcome and the lines that were changed."""
        module = self.root / mutation.module
        before = module.read_text()
        after = mutation.apply(before)
        try:
            self._write(module, after)
            return self.run_tests(tests, limit), show_change(before, after)
        finally:
            self._write(module, before)

    def run_tests(self, tests: Sequence[str], limit: timedelta) -> MutantOutcome:
        """Run tests until one fails or the time is over.

        Raises:
            ValueError: there are no such tests.
        """
        with (
            self.output.open("wb") as output,
            subprocess.Popen(
                [*PYTEST, *tests], cwd=self.root, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            ) as pytest,
        ):
            try:
                code = pytest.wait(limit.total_seconds())
            except subprocess.TimeoutExpired:
                return MutantOutcome.TIMED_OUT
            finally:
                _end_pytest(pytest)
        if code == NO_TESTS:
            raise ValueError(f"no tests are in {', '.join(tests)}")
        return MutantOutcome.SURVIVED if code == 0 else MutantOutcome.KILLED

    def _write(self, module: Path, source: str) -> None:
        # Python's cache takes two sources of one length, written within a second, for the same.
        for compiled in module.parent.glob(f"__pycache__/{module.stem}.*"):
            compiled.unlink()
        module.write_text(source)


def _end_pytest(pytest: subprocess.Popen[bytes]) -> None:
    """End pytest, which ends its servers when it is asked; when it does not react, kill it with all that it started."""
    if pytest.poll() is not None:
        return
    pytest.send_signal(signal.SIGINT)
    try:
        pytest.wait(LAST_WORDS.total_seconds())
    except subprocess.TimeoutExpired:
        os.killpg(pytest.pid, signal.SIGKILL)


def find_limits(copy: TreeCopy, core: MutatedCore, parts: Iterable[str]) -> dict[str, timedelta]:
    """Run each part's tests without a mistake; return how long they may take with one.

    Raises:
        RuntimeError: tests fail already without a mistake, so that they would tell nothing.
    """
    limits = {}
    for name in parts:
        began = time.monotonic()
        if copy.run_tests(core.parts[name].tests, timedelta(hours=1)) is not MutantOutcome.SURVIVED:
            raise RuntimeError(f"the tests of {name} fail without a mistake:\n{copy.output.read_text(errors='replace')[-4000:]}")
        took = timedelta(seconds=time.monotonic() - began)
        print(f"{name}: tests take {took.total_seconds():.1f} s", flush=True)
        limits[name] = took * SLOWER + AT_LEAST
    return limits


def try_mutations(copy: TreeCopy, core: MutatedCore, drawn: Sequence[tuple[str, Mutation]]) -> dict[str, Counter[MutantOutcome]]:
    """Try every mistake drawn and print those that survive; return the count of each outcome, by part."""
    limits = find_limits(copy, core, dict.fromkeys(name for name, _ in drawn))
    counts: dict[str, Counter[MutantOutcome]] = {name: Counter() for name in limits}
    for name, mutation in drawn:
        outcome, change = copy.try_mutation(mutation, core.parts[name].tests, limits[name])
        counts[name][outcome] += 1
        print(f"{outcome}: {mutation.module}:{mutation.line} {mutation.operator}", flush=True)
        if outcome is MutantOutcome.SURVIVED:
            print(change, flush=True)
    return counts


def count_figures(counts: Mapping[str, Counter[MutantOutcome]]) -> dict[str, float]:
    """Count the figures: how many mistakes were planted, which share was noticed, how many kept tests from ending."""
    total = sum(counts.values(), Counter[MutantOutcome]())
    noticed = total[MutantOutcome.KILLED] + total[MutantOutcome.TIMED_OUT]
    return {
        "mutants": total.total(),
        "killed_share": noticed / total.total(),
        "survived": total[MutantOutcome.SURVIVED],
        "timed_out": total[MutantOutcome.TIMED_OUT],
    }


def main() -> None:
    """Draw, plant and count."""
    core = read_core(CORE)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=200, help="how many mistakes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="leave out so many of the mistakes drawn: an earlier run tried them")
    parser.add_argument(
        "--part", action="append", choices=list(core.parts), dest="parts", help="only this part (as often as wanted)"
    )
    options = parser.parse_args()
    # A program started in the background ignores this signal, and so would pytest, which ends its servers on it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    drawn = draw_mutations(ROOT, core, options.parts or core.parts, options.sample, options.seed)[options.skip :]
    with tempfile.TemporaryDirectory() as folder:
        counts = try_mutations(TreeCopy(Path(folder)), core, drawn)
    for name, outcomes in counts.items():
        print(f"{name}: {', '.join(f'{number} {outcome}' for outcome, number in outcomes.items())}")
    print_result("mutants", count_figures(counts))


if __name__ == "__main__":
    main()
