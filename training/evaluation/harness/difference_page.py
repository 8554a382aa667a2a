"""An HTML page that shows two runs side by side."""

from collections.abc import Sequence
from html import escape

from training.evaluation.harness.comparison import Difference, word_verdict
from training.evaluation.harness.manifest import RunManifest
from training.evaluation.harness.run_page import manifest_rows_of
from training.evaluation.intervals import Interval
from training.pages.markup import format_interval, format_number, render_document, render_table
from training.pages.plots import draw_intervals


def render_difference_page(first: RunManifest, second: RunManifest, found: Sequence[Difference]) -> str:
    """Render the whole page; differences are second minus first."""
    rows = {d.name: d.interval for d in found if isinstance(d.interval, Interval)}
    plot = draw_intervals("Second minus first, with 95% intervals", rows, zero=True) if rows else ""
    one, other = dict(manifest_rows_of(first)), dict(manifest_rows_of(second))
    sides = [[name, one.get(name, ""), other.get(name, "")] for name in dict.fromkeys([*one, *other])]
    return render_document(
        f"{first.benchmark}: {first.system.name} and {second.system.name}",
        [
            f"<h1>{escape(first.benchmark)}: {escape(first.system.name)} and {escape(second.system.name)}</h1>",
            f"<p>Paired differences over the items that both have, with 95% intervals. {escape(word_verdict(found))}</p>",
            render_table(["figure", "first", "second", "difference", "95% interval", "items"], [_row_of(d) for d in found]),
            f"<figure>{plot}</figure>" if plot else "",
            "<h2>What they were made with</h2>",
            render_table(["", "first", "second"], sides),
        ],
    )


def _row_of(d: Difference) -> list[str]:
    numbers = (format_number(score) for score in (d.first, d.second, d.difference))
    return [d.name, *numbers, format_interval(d.interval), str(d.items)]
