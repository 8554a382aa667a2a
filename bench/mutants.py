"""`python -m bench.mutants`: measure the share of small mistakes, planted one at a time in the core, that the tests notice.

cosmic-ray makes the mistakes. bench/mutants.toml says which modules are the core, part by part, and which tests should notice
mistakes in each. Mistakes are drawn with a seed, the same number from each part. The tests run in a copy of the tree. A mistake
that keeps them from ending counts as noticed, since nobody would merge it; such mistakes are also counted apart.
What noticed a mistake is printed, and every mistake that no test noticed.

All parts take hours. With `--known FILE` each outcome is appended to a file, and a mistake that this file knows as noticed is
not tried again as long as its module is the same; what survived is tried again.
"""

import argparse
import os
import random
import re
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
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from bench.known_mutants import KnownMutants, MutantOutcome
from bench.mutations import Mutation, list_mutations, show_change
from bench.result import print_result

ROOT = Path(__file__).resolve().parent.parent
CORE = Path(__file__).with_suffix(".toml")
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", ".rubrica", "*_cache", "__pycache__")
PYTEST = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-p", "no:cacheprovider", "--durations=1", "--durations-min=0"]
NO_TESTS = 5
SLOWEST = re.compile(r"^([0-9.]+)s (?:setup|call|teardown) ", re.MULTILINE)
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
HANGING = "from pytest-timeout"
# A planted mistake may make tests slower; after this many times their usual duration they count as hanging.
SLOWER = 4
AT_LEAST = timedelta(seconds=20)
LAST_WORDS = timedelta(seconds=30)


class CorePart(BaseModel):
    """A part of the core: its modules (paths or patterns of paths), and the tests that should notice mistakes in them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    modules: tuple[str, ...]
    tests: tuple[str, ...]


class TimeLimits(NamedTuple):
    """How long one test may take, and all tests of a part."""

    one: timedelta
    all: timedelta


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

    def try_mutation(self, mutation: Mutation, tests: Sequence[str], limits: TimeLimits) -> tuple[MutantOutcome, str]:
        """Plant a mistake, run the tests and take it out again; the outcome and the lines that were changed."""
        module = self.root / mutation.module
        before = module.read_text()
        after = mutation.apply(before)
        try:
            self._write(module, after)
            return self.run_tests(tests, limits), show_change(before, after)
        finally:
            self._write(module, before)

    def run_tests(self, tests: Sequence[str], limits: TimeLimits) -> MutantOutcome:
        """Run tests until one fails or takes too long.

        Raises:
            ValueError: there are no such tests.
        """
        command = [*PYTEST, f"--timeout={limits.one.total_seconds()}", *tests]
        with (
            self.output.open("wb") as output,
            subprocess.Popen(command, cwd=self.root, stdout=output, stderr=subprocess.STDOUT, start_new_session=True) as pytest,
        ):
            try:
                code = pytest.wait(limits.all.total_seconds())
            except subprocess.TimeoutExpired:
                return MutantOutcome.TIMED_OUT
            finally:
                _end_pytest(pytest)
        if code == NO_TESTS:
            raise ValueError(f"no tests are in {', '.join(tests)}")
        if code == 0:
            return MutantOutcome.SURVIVED
        return MutantOutcome.TIMED_OUT if HANGING in self.read_output() else MutantOutcome.KILLED

    def read_output(self) -> str:
        """Return what the latest tests printed."""
        return self.output.read_text(errors="replace")

    def find_failed(self) -> str:
        """Name the test of the latest run that failed; empty when none did."""
        return "".join(FAILED.findall(self.read_output())[-1:])

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


def find_limits(copy: TreeCopy, core: MutatedCore, parts: Iterable[str]) -> dict[str, TimeLimits]:
    """Run each part's tests without a mistake; return how long they may take with one.

    Raises:
        RuntimeError: tests fail already without a mistake, so that they would tell nothing.
    """
    hour = timedelta(hours=1)
    limits = {}
    for name in parts:
        began = time.monotonic()
        if copy.run_tests(core.parts[name].tests, TimeLimits(hour, hour)) is not MutantOutcome.SURVIVED:
            raise RuntimeError(f"the tests of {name} fail without a mistake:\n{copy.read_output()[-4000:]}")
        took = timedelta(seconds=time.monotonic() - began)
        slowest = timedelta(seconds=max(map(float, SLOWEST.findall(copy.read_output()))))
        print(f"{name}: tests take {took.total_seconds():.1f} s, the slowest {slowest.total_seconds():.1f} s", flush=True)
        limits[name] = TimeLimits(slowest * SLOWER + AT_LEAST, took * SLOWER + AT_LEAST)
    return limits


def try_mutations(
    copy: TreeCopy, core: MutatedCore, drawn: Sequence[tuple[str, Mutation]], known: KnownMutants
) -> dict[str, Counter[MutantOutcome]]:
    """Try every mistake drawn that is not known as noticed and print its outcome; return the count of each outcome, by part."""
    noticed = {each: known.find_noticed(copy.root, each) for _, each in drawn}
    limits = find_limits(copy, core, dict.fromkeys(name for name, each in drawn if noticed[each] is None))
    counts: dict[str, Counter[MutantOutcome]] = {name: Counter() for name, _ in drawn}
    for name, mutation in drawn:
        outcome = noticed[mutation]
        if outcome is None:
            outcome, change = copy.try_mutation(mutation, core.parts[name].tests, limits[name])
            known.add(copy.root, mutation, outcome)
            place = f"{mutation.module}:{mutation.line} {mutation.operator}"
            print(
                f"{outcome}: {place}", change if outcome is MutantOutcome.SURVIVED else copy.find_failed(), sep="\n", flush=True
            )
        counts[name][outcome] += 1
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
    parser.add_argument("--known", type=Path, help="a file with the outcomes of earlier runs, to which this run adds its own")
    parser.add_argument(
        "--part", action="append", choices=list(core.parts), dest="parts", help="only this part (as often as wanted)"
    )
    options = parser.parse_args()
    # A program started in the background ignores this signal, and so would pytest, which ends its servers on it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    drawn = draw_mutations(ROOT, core, options.parts or core.parts, options.sample, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        counts = try_mutations(TreeCopy(Path(folder)), core, drawn, KnownMutants(options.known or Path(folder) / "known"))
    for name, outcomes in counts.items():
        print(f"{name}: {', '.join(f'{number} {outcome}' for outcome, number in outcomes.items())}")
    print_result("mutants", count_figures(counts))


if __name__ == "__main__":
    main()
