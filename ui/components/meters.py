"""Calls, tokens, cost and time of a run, and the used share of each cap."""

from collections.abc import Callable
from datetime import datetime

from rubrica_client.models import Run
from ui.components.markup import escape
from ui.facts import count_tokens, wall_time_of
from ui.language import say
from ui.number_format import format_count, format_elapsed, format_money
from ui.progress import WatchedProgress


def meters_html(run: Run, progress: WatchedProgress, now: datetime) -> str:
    """Return a row of tiles as HTML; a tile with a cap has a bar. The cap on time counts working time only."""
    usage, budget = run.usage, run.budget
    seconds = int(progress.working_time_until(now).total_seconds())
    tiles = [
        tile_html(
            say("meter.elapsed"),
            format_elapsed(wall_time_of(run, now)),
            *measure_cap(seconds, budget.max_seconds, _format_minutes),
        ),
        tile_html(say("meter.calls"), format_count(usage.model_calls)),
        tile_html(say("meter.searches"), format_count(usage.tool_calls)),
        tile_html(say("meter.sources"), format_count(len(progress.sources))),
        tile_html(
            say("meter.tokens"),
            format_count(count_tokens(usage)),
            *measure_cap(count_tokens(usage), budget.max_tokens, format_count),
        ),
        tile_html(
            say("meter.cost"),
            format_money(usage.cost_microusd),
            *measure_cap(usage.cost_microusd, budget.max_cost_microusd, format_money),
        ),
    ]
    return f'<div class="r-meters">{"".join(tiles)}</div>'


def measure_cap(used: int, cap: int | None, as_text: Callable[[int], str]) -> tuple[str, float]:
    """Return a tile's text about a cap and the used share of it; an empty text if there is no cap."""
    return ("", 0.0) if cap is None else (say("meter.of", cap=as_text(cap)), min(used / cap, 1.0) if cap else 1.0)


def _format_minutes(seconds: int) -> str:
    return say("meter.seconds", n=seconds) if seconds < 120 else say("meter.minutes", n=f"{seconds / 60:.3g}")


def tile_html(label: str, value: str, cap: str = "", share: float = 0.0) -> str:
    """Return one figure under its name as HTML, with the used share of its cap."""
    bar = f'<small>{escape(cap)}</small><div class="r-bar"><i style="width:{share:.0%}"></i></div>' if cap else ""
    return f'<div class="r-meter"><span class="r-label">{escape(label)}</span><b>{escape(value)}</b>{bar}</div>'
