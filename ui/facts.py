"""What the page works out from what the API answers."""

from datetime import datetime, timedelta

from rubrica_client.models import ColumnView, Me, Run, RunUsage, Usage
from rubrica_client.runs import FINISHED


def is_finished(run: Run) -> bool:
    """Whether nothing more will happen."""
    return run.status in FINISHED


def elapsed(run: Run, now: datetime) -> timedelta:
    """Wall time from creation to the end, or to `now` while the run goes on."""
    return max((run.finished_at or now) - run.created_at, timedelta())


def count_tokens(usage: Usage | RunUsage) -> int:
    """Input and output tokens together."""
    return usage.input_tokens + usage.output_tokens


def may(who: Me, scope: str) -> bool:
    """Whether somebody may do something named so."""
    return scope in who.scopes


def has_ended(column: ColumnView) -> bool:
    """Whether nothing more comes by itself to a system's column."""
    return is_finished(column.run) and not column.judging


def lacks_scores(column: ColumnView) -> bool:
    """Whether there is a report that nobody has judged, or is about to."""
    return column.run.status == "completed" and column.scorecard is None and not column.judging
