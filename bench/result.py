"""Prints the line that every benchmark ends with: what was measured, on which machine, at which commit."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

SIGNIFICANT_DECIMALS = 4
SMALL = 0.001
CHANGED = "+changes"
FILES = ".files.txt"
"""What the file beside a result is called that names the files the bench used."""
KEPT = (":!bench/results", ":!bench/README.md")
"""What keeps figures is not measured: of several benches in a row, the first one's result is no change for the second."""


def print_result(bench: str, figures: Mapping[str, float], more_machine: Sequence[str] = ()) -> None:
    """Print `{"bench", "figures", "machine", "commit"}` as the last line of a benchmark; figures are rounded to 4 decimals.

    Figures below .001, such as errors of rounding, keep 4 digits. `more_machine` is told after the machine: a GPU, a model.
    """
    rounded = {key: _round_figure(value) for key, value in figures.items()}
    machine = ", ".join([describe_machine(), *more_machine])
    line = {"bench": bench, "figures": rounded, "machine": machine, "commit": read_commit()}
    print(json.dumps(line, ensure_ascii=False), flush=True)


def add_figures(figures: Mapping[str, float], earlier: Path | None, largest: frozenset[str] = frozenset()) -> dict[str, float]:
    """Add the figures of an earlier run, whose last line stands in a file. Of those named in `largest`, the larger one counts."""
    known = json.loads(earlier.read_text().splitlines()[-1])["figures"] if earlier else {}
    return {name: (max if name in largest else sum)([value, known.get(name, 0)]) for name, value in figures.items()}


def _round_figure(value: float) -> float:
    return float(f"{value:.{SIGNIFICANT_DECIMALS}g}") if 0 < abs(value) < SMALL else round(value, SIGNIFICANT_DECIMALS)


def print_skipped(bench: str, reason: str) -> None:
    """Say why a benchmark could not run; the line has no figures, so nobody can mistake it for a result."""
    print(f"skipped: {reason}")
    print(
        json.dumps({"bench": bench, "figures": {}, "skipped": reason, "machine": describe_machine(), "commit": read_commit()}),
        flush=True,
    )


def describe_machine() -> str:
    """Describe the machine: usable cores, memory, processor, system."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    gibibytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{cores} cores, {gibibytes:.0f} GiB, {_name_processor()}, {platform.system()}, Python {platform.python_version()}"


def _name_processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def read_commit() -> str:
    """Return the commit measured, marked `+changes` when the working tree differs; `unknown` outside a checkout."""
    root = Path(__file__).resolve().parent.parent
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", *KEPT)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + CHANGED if changed else head


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, text=True).stdout.strip()
