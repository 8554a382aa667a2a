"""The table of `make conformance`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from bench.conformance.outcome import Outcome

HEAD = ("suite", "version", "run", "passed", "skipped", "failed")


class Row(NamedTuple):
    """A suite in the table: what it found, or why it was not run."""

    name: str
    version: str
    outcome: Outcome | None
    reason: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as words."""
        if self.outcome is None:
            return (self.name, self.version, "not run", "", "", "")
        numbers = (self.outcome.run, self.outcome.passed, len(self.outcome.skipped), len(self.outcome.failed))
        return (self.name, self.version, *map(str, numbers))


def write_table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of the table, then what failed, was skipped and was not run, with the reasons."""
    told = list(rows)
    lines = [HEAD, *(row.cells for row in told)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    for line in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
    yield ""
    for row in told:
        if row.outcome is None:
            yield f"not run: {row.name}: {row.reason}"
            continue
        yield from (f"failed: {row.name}: {name}: {reason}" for name, reason in row.outcome.failed.items())
        yield from (f"skipped: {row.name}: {reason}" for reason in _group(row.outcome.skipped))


def _group(skipped: Mapping[str, str]) -> Iterator[str]:
    """Yield each reason once, after the names of what it holds for."""
    for reason in dict.fromkeys(skipped.values()):
        names = [name for name, known in skipped.items() if known == reason]
        yield f"{', '.join(names[:4])}{f' and {len(names) - 4} more' if len(names) > 4 else ''}: {reason}"


def list_figures(rows: Sequence[Row]) -> dict[str, float]:
    """Return the figures of the whole table."""
    ran = [row.outcome for row in rows if row.outcome is not None]
    return {
        "run": sum(outcome.run for outcome in ran),
        "passed": sum(outcome.passed for outcome in ran),
        "skipped": sum(len(outcome.skipped) for outcome in ran),
        "failed": sum(len(outcome.failed) for outcome in ran),
        "not_run": sum(row.outcome is None for row in rows),
    }
