"""`python -m bench.noticed`: measure anew what a user notices, keep each result with the files that it used, and write the table.

The benches run one after the other. Each runs twice: timed, as the table names it, and once more, slowly, to record its files.
When one fails, the others go on; the end names those that failed, and the exit status is 1. `python -m bench.noticed NAME ...`
does the same for other benches of the table.
"""

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.recording.record import record_files
from bench.result import FILES
from bench.table import ROOT, Limits, read_limits

NOTICED = ("overhead", "startup", "memory", "api", "retrieval_speed", "durability")


class BenchFailed(Exception):
    """An error: a bench gave no figures."""


def measure(command: Sequence[str], root: Path) -> str:
    """Run a bench, pass on what it prints, and return its last line, the result.

    Raises:
        BenchFailed: it ended with an error, or skipped its work.
    """
    last = ""
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as bench:
        assert bench.stdout is not None
        for last in bench.stdout:
            print(last, end="", flush=True)
    if bench.returncode:
        raise BenchFailed(f"exit status {bench.returncode}")
    try:
        result = json.loads(last)
    except ValueError as error:
        raise BenchFailed("the last line is no result") from error
    if not result.get("figures"):
        raise BenchFailed(f"no figures: {result.get('skipped', last)}")
    return last


def renew(name: str, limits: Limits, root: Path) -> None:
    """Measure a bench, record its files, and keep both in bench/results.

    Raises:
        BenchFailed: there are no figures, or the files could not be recorded; the figures are kept then.
    """
    command = (sys.executable, "-m", f"bench.{limits.module or name}")
    kept = root / "bench" / "results" / f"{name}.json"
    kept.write_text(measure([*command, *shlex.split(limits.arguments)], root))
    recorded = limits.arguments if limits.recorded is None else limits.recorded
    try:
        files = record_files([*command, *shlex.split(recorded)], root)
    except subprocess.CalledProcessError as error:
        raise BenchFailed(f"its files are not recorded: {error}") from error
    kept.with_suffix(FILES).write_text("".join(f"{file}\n" for file in files))


def renew_all(names: Sequence[str], root: Path) -> dict[str, str]:
    """Renew one bench after the other; return why those failed that did."""
    limits = read_limits(root / "bench" / "limits.toml")
    failed: dict[str, str] = {}
    for name in names:
        print(f"{name}:", flush=True)
        try:
            renew(name, limits[name], root)
        except BenchFailed as error:
            failed[name] = str(error)
            print(f"{name} failed: {error}", flush=True)
    return failed


def main() -> None:
    """Renew, write the table, and tell what failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"benches of the table; default: {' '.join(NOTICED)}")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout; default: this one")
    options = parser.parse_args()
    if unknown := set(options.names) - read_limits(options.root / "bench" / "limits.toml").keys():
        parser.error(f"not in limits.toml: {', '.join(sorted(unknown))}")
    failed = renew_all(options.names or NOTICED, options.root)
    table = subprocess.run([sys.executable, "-m", "bench.table", "--root", str(options.root)], cwd=ROOT).returncode
    for name, reason in failed.items():
        print(f"{name} failed: {reason}", file=sys.stderr)
    sys.exit(1 if failed else table)


if __name__ == "__main__":
    main()
