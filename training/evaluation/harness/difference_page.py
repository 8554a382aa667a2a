"""An HTML page that shows two runs side by side."""

from collections.abc import Sequence
from html import escape

from training.evaluation.harness.comparing import Difference
from training.evaluation.harness.manifest import Manifest
from training.evaluation.harness.markup import document, interval_text, number, table
from training.evaluation.harness.page import made_with
from training.evaluation.harness.plots import intervals
from training.evaluation.preference_metrics import Interval


def difference_page(first: Manifest, second: Manifest, found: Sequence[Difference]) -> str:
    """Render the whole page; differences are second minus first."""
    rows = {d.name: d.difference for d in found if isinstance(d.difference, Interval)}
    plot = intervals("Second minus first, with 95% intervals", rows, zero=True) if rows else ""
    one, other = dict(made_with(first)), dict(made_with(second))
    sides = [[name, one.get(name, ""), other.get(name, "")] for name in dict.fromkeys([*one, *other])]
    return document(
        f"{first.benchmark}: {first.system.name} and {second.system.name}",
        [
            f"<h1>{escape(first.benchmark)}: {escape(first.system.name)} and {escape(second.system.name)}</h1>",
            "<p>Paired differences over the items that both have, with percentile bootstrap intervals.</p>",
            table(["figure", "first", "second", "difference", "95% interval", "items"], [_row(d) for d in found]),
            f"<figure>{plot}</figure>" if plot else "",
            "<h2>What they were made with</h2>",
            table(["", "first", "second"], sides),
        ],
    )


def _row(d: Difference) -> list[str]:
    difference = number(d.difference.value) if isinstance(d.difference, Interval) else "–"
    return [d.name, number(d.first), number(d.second), difference, interval_text(d.difference), str(d.items)]
