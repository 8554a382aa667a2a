"""A gate's decision as a page of Markdown."""

from collections.abc import Iterable

from training.loop.gates.decide import GateDecision, WorstItems
from training.loop.gates.rows import GateRow

HEAD = "| metric | | queries | before | after | difference | interval | margin | verdict | reason |\n" + "|---" * 10 + "|"
WORST_HEAD = "| query | item | before | after | text before | text after |\n" + "|---" * 6 + "|"
MOST_LEAKS = 20


def write_page(decision: GateDecision) -> str:
    """Write the verdict, its reasons, the table, and the worst items of what was refused."""
    parts = [
        f"# Gate: {decision.verdict}",
        "\n".join(f"- {_escape(reason)}" for reason in decision.reasons),
        "\n".join([HEAD, *map(_write_row, decision.rows)]),
        _write_leaks(decision),
        *map(_write_worst, decision.worst),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _write_row(row: GateRow) -> str:
    interval = "" if row.low is None else f"{_show(row.low, row.relative)} to {_show(row.high, row.relative)}"
    margin = "" if row.margin is None else f"{row.margin:.1%}" if row.relative else f"{row.margin:.4g}"
    means = (_show(row.before, False, signed=False), _show(row.after, False, signed=False))
    return _write_cells(
        [
            row.metric,
            row.kind,
            str(row.queries),
            *means,
            _show(row.difference, row.relative),
            interval,
            margin,
            row.verdict,
            row.reason,
        ]
    )


def _write_leaks(decision: GateDecision) -> str:
    if decision.leaks is None:
        return "It was not told what the model was trained on, so nobody looked whether held-out items are among it."
    lines = [
        f"- `{leak.held_out}` is `{leak.trained_on}` of the training set, likeness {leak.likeness}" for leak in decision.leaks
    ]
    more = len(lines) - MOST_LEAKS
    return "\n".join([*lines[:MOST_LEAKS], *([f"- and {more} more"] if more > 0 else [])])


def _write_worst(worst: WorstItems) -> str:
    rows = [
        _write_cells([item.query, item.item, f"{item.before:.4g}", f"{item.after:.4g}", item.before_text, item.after_text])
        for item in worst.items
    ]
    return "\n".join([f"## Worst items: {_escape(worst.metric)}\n", WORST_HEAD, *rows])


def _write_cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_escape, cells))} |"


def _show(value: float | None, relative: bool, signed: bool = True) -> str:
    if value is None:
        return ""
    return f"{value:+.1%}" if relative else f"{value:+.4f}" if signed else f"{value:.4f}"


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
