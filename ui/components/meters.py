"""Calls, tokens, cost and time of a run, and the used share of each cap."""

from collections.abc import Callable
from datetime import datetime

from rubrica_client.models import Run
from ui.components.markup import text
from ui.facts import count_tokens, elapsed
from ui.figures import clock, compact, money
from ui.language import say
from ui.progress import Progress


def meters_html(run: Run, progress: Progress, now: datetime) -> str:
    """Return a row of tiles as HTML; a tile with a cap has a bar. The cap on time counts working time only."""
    usage, budget = run.usage, run.budget
    seconds = int(progress.working_time(now).total_seconds())
    tiles = [
        tile(say("meter.elapsed"), clock(elapsed(run, now)), *capped(seconds, budget.max_seconds, _minutes)),
        tile(say("meter.calls"), compact(usage.model_calls)),
        tile(say("meter.searches"), compact(usage.tool_calls)),
        tile(say("meter.sources"), compact(len(progress.sources))),
        tile(say("meter.tokens"), compact(count_tokens(usage)), *capped(count_tokens(usage), budget.max_tokens, compact)),
        tile(say("meter.cost"), money(usage.cost_microusd), *capped(usage.cost_microusd, budget.max_cost_microusd, money)),
    ]
    return f'<div class="r-meters">{"".join(tiles)}</div>'


def capped(used: int, cap: int | None, as_text: Callable[[int], str]) -> tuple[str, float]:
    """Return a tile's text about a cap and the used share of it; an empty text if there is no cap."""
    return (say("meter.of", cap=as_text(cap)), min(used / cap, 1.0)) if cap else ("", 0.0)


def _minutes(seconds: int) -> str:
    return say("meter.seconds", n=seconds) if seconds < 120 else say("meter.minutes", n=f"{seconds / 60:.3g}")


def tile(label: str, value: str, cap: str = "", share: float = 0.0) -> str:
    """Return one figure under its name as HTML, with the used share of its cap."""
    bar = f'<small>{text(cap)}</small><div class="r-bar"><i style="width:{share:.0%}"></i></div>' if cap else ""
    return f'<div class="r-meter"><span class="r-label">{text(label)}</span><b>{text(value)}</b>{bar}</div>'
