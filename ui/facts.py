"""Facts that the page works out from the API's answers."""

from datetime import datetime, timedelta

from rubrica_client.models import ColumnView, NewRun, OwnDocument, Run, RunUsage, SourceKind, Usage
from rubrica_client.runs import FINISHED


def is_finished(run: Run) -> bool:
    """Return whether the run has ended for good."""
    return run.status in FINISHED


def wall_time_of(run: Run, now: datetime) -> timedelta:
    """Return the wall time from the run's creation to its end, or to `now` while it goes on."""
    return max((run.finished_at or now) - run.created_at, timedelta())


def count_tokens(usage: Usage | RunUsage) -> int:
    """Return input and output tokens together."""
    return usage.input_tokens + usage.output_tokens


def searches_corpora(new: NewRun) -> bool:
    """Return whether a run of this question searches the installation's own corpora, which named collections replace."""
    return SourceKind.CORPORA in new.sources if new.sources else not new.collections


def is_being_read(document: OwnDocument) -> bool:
    """Return whether the document's state will still change by itself."""
    return document.state in ("received", "parsed", "deleting")


def has_ended(column: ColumnView) -> bool:
    """Return whether a system's column is complete: its run has finished and no judging is under way."""
    return is_finished(column.run) and not column.judging


def lacks_scores(column: ColumnView) -> bool:
    """Return whether there is a report that nobody has judged or is judging."""
    return column.run.status == "completed" and column.scorecard is None and not column.judging
