"""`python -m bench.table`: write the table of figures in bench/README.md from bench/results and bench/limits.toml.

`--check` writes nothing; it exits with 1 when the README differs from what would be written. Both exit with 2 where the history
of the repository is missing, since nobody can tell there how old a figure is.
"""

import argparse
import json
import operator
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from bench.result import CHANGED, FILES

LIMIT = re.compile(r"(?P<sign>[≥≤<>=]) (?:(?P<factor>[\d.]+) × )?(?P<bound>\w[\w.]*)")
SIGNS = {"≥": operator.ge, "≤": operator.le, "<": operator.lt, ">": operator.gt, "=": operator.eq}


class Limits(BaseModel):
    """The limits of one bench's figures, and how it is run.

    `figures` maps each figure of the table to its limit: a sign and a number (`< 15`), or another figure of the same bench,
    with a factor where one is wanted (`≥ 1.25 × baseline_recall`). An empty limit means that the figure is only reported.
    `short` says in a sentence or two why figures miss their limits. `module` is the bench's, where a bench has several rows and
    each its own name. `arguments` are those of the measurement; `recorded` those of the slow run that only lists the files, where
    a smaller one uses the same.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    module: str = ""
    arguments: str = ""
    recorded: str | None = None
    figures: dict[str, str]
    short: str = ""


def read_limits(file: Path) -> dict[str, Limits]:
    """Read the limits of each bench, by its name; unknown words in the file are refused."""
    return {bench: Limits.model_validate(entry) for bench, entry in tomllib.loads(file.read_text()).items()}


def meets_limit(limit: str, value: float, figures: Mapping[str, float]) -> bool:
    """Tell whether a figure keeps its limit; `figures` are those that the limit may name."""
    read = LIMIT.fullmatch(limit)
    if read is None:
        raise ValueError(f"not a limit: {limit!r}")
    bound = figures[read["bound"]] if read["bound"] in figures else float(read["bound"])
    met: bool = SIGNS[read["sign"]](value, bound * float(read["factor"] or 1))
    return met


class HistoryMissing(Exception):
    """An error: the checkout has no git, or only a part of the history."""


class History:
    """The history behind `HEAD` of a full checkout.

    Raises:
        HistoryMissing: the folder is no checkout, git is not installed, or the checkout is shallow.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        try:
            shallow = self._git("rev-parse", "--is-shallow-repository")
        except OSError as error:
            raise HistoryMissing(f"git cannot be run: {error}") from error
        if shallow.returncode != 0:
            raise HistoryMissing("this folder is no git checkout")
        if shallow.stdout.strip() == "true":
            raise HistoryMissing("this checkout is shallow: `git fetch --unshallow` brings the history")

    def knows(self, commit: str) -> bool:
        """Tell whether `HEAD` comes from this commit. Code that was never committed is not known either."""
        if commit.endswith(CHANGED):
            return False
        return self._git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0

    def count_commits_since(self, commit: str, files: Iterable[str]) -> int:
        """Count the later commits that touch one of the files; merges are no commits of their own."""
        # Without --full-history, git leaves out side branches that end with the same content.
        words = ("rev-list", "--count", "--no-merges", "--full-history", f"{commit}..HEAD", "--", *files)
        found = self._git(*words)
        found.check_returncode()
        return int(found.stdout)

    def _git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["git", "-C", str(self._root), "--literal-pathspecs", *arguments]
        return subprocess.run(command, capture_output=True, text=True)


ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- the table begins: python -m bench.table writes it -->", "<!-- the table ends -->"
HEAD = "| command | figure | measured | must be | |\n|---|---|---|---|---|"
MET, MISSED, MISSING = "met", "missed", "not measured"
UNKNOWN, NOT_RECORDED = "commit unknown", "files not recorded"


class Result(BaseModel):
    """The last line of a bench, from bench/results, with the files that it used; `files` is empty where none were recorded."""

    model_config = ConfigDict(frozen=True)

    bench: str
    figures: dict[str, float | int]
    commit: str
    files: tuple[str, ...] = ()


def read_results(folder: Path) -> dict[str, Result]:
    """Read the results, by the name of their bench."""
    found = [_read_result(file) for file in sorted(folder.glob("*.json"))]
    return {result.bench: result for result in found}


def _read_result(file: Path) -> Result:
    files = file.with_suffix(FILES)
    recorded = files.read_text().splitlines() if files.exists() else []
    return Result.model_validate({**json.loads(file.read_text()), "files": recorded})


def write_section(limits: Mapping[str, Limits], results: Mapping[str, Result], history: History) -> str:
    """Write the table and, after it, why figures fall short; a bench without a result is marked as not measured.

    Raises:
        ValueError: there are results without limits, or a result lacks a figure that the limits name.
    """
    if strangers := results.keys() - limits.keys():
        raise ValueError(f"results without limits: {', '.join(sorted(strangers))}")
    rows = [row for bench, entry in limits.items() for row in _write_rows(bench, entry, results.get(bench), history)]
    short = [line for bench, entry in limits.items() for line in _write_shortfall(bench, entry, results.get(bench))]
    return "\n".join([HEAD, *rows, *(["", "What falls short:", "", *short] if short else [])])


def replace_section(readme: str, section: str) -> str:
    """Put the section between the two markers of the README in place of what stands there."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError("the README lacks the two markers of the table")
    return f"{before}{BEGIN}\n\n{section}\n\n{END}{after}"


def _write_rows(bench: str, limits: Limits, result: Result | None, history: History) -> Iterator[str]:
    command = f"python -m bench.{limits.module or bench} {limits.arguments}".strip()
    age = "" if result is None else _tell_age(result, history)
    for figure, limit in limits.figures.items():
        value = "" if result is None else _find_figure(result, figure)
        marks = [MISSING] if result is None else [mark for mark in (_judge(limits, result, figure), age) if mark]
        yield f"| `{command}` | {figure} | {value} | {limit} | {'; '.join(marks)} |"


def _write_shortfall(bench: str, limits: Limits, result: Result | None) -> Iterator[str]:
    missed = [figure for figure in limits.figures if result is not None and _judge(limits, result, figure) == MISSED]
    if missed:
        yield f"- `{bench}`: {', '.join(missed)}. {limits.short or 'Nobody has said why.'}"


def _judge(limits: Limits, result: Result, figure: str) -> str:
    limit = limits.figures[figure]
    if not limit:
        return ""
    return MET if meets_limit(limit, _find_figure(result, figure), result.figures) else MISSED


def _find_figure(result: Result, figure: str) -> float:
    if figure not in result.figures:
        raise ValueError(f"the result of {result.bench} lacks {figure}")
    return result.figures[figure]


def _tell_age(result: Result, history: History) -> str:
    if not history.knows(result.commit):
        return UNKNOWN
    if not result.files:
        return NOT_RECORDED
    count = history.count_commits_since(result.commit, result.files)
    return f"{count} commit since" if count == 1 else f"{count} commits since"


def main() -> None:
    """Write the table or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when the README differs")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout; default: this one")
    options = parser.parse_args()
    folder: Path = options.root / "bench"
    readme = folder / "README.md"
    try:
        section = write_section(read_limits(folder / "limits.toml"), read_results(folder / "results"), History(options.root))
    except HistoryMissing as missing:
        print(f"The table cannot be made here: {missing}.", file=sys.stderr)
        sys.exit(2)
    current = readme.read_text()
    due = replace_section(current, section)
    if not options.check:
        readme.write_text(due)
    elif due != current:
        print("bench/README.md is not what `python -m bench.table` writes.", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
