"""The line that says how far a run has come, what it does now, and how long it will probably still take."""

import math
from datetime import datetime, timedelta

from rubrica_client import ApiError, asking
from rubrica_client.models import NewRun, Run
from rubrica_client.runs import FINISHED, PARKED
from ui.components.markup import escape
from ui.language import say
from ui.pace import estimate_left, measure_share
from ui.progress import REPORT, WatchedProgress
from ui.session import ask_once, get_api


def find_likely_time(run: Run) -> timedelta | None:
    """Return how long runs like this one take, asked for once; None if the API does not say."""
    return ask_once("likely_time", run.id, lambda: _ask_likely_time(run))


def _ask_likely_time(run: Run) -> timedelta | None:
    query = run.query
    alike = NewRun(question=query.question, effort=query.effort, system=query.system, language=query.language)
    try:
        return timedelta(seconds=get_api().send(asking.estimate(alike)).seconds.likely)
    except ApiError:
        return None


def pace_html(run: Run, progress: WatchedProgress, now: datetime, likely: timedelta | None) -> str:
    """Return a bar with the share that is done, and a line about it, as HTML; nothing for a run that has ended or waits."""
    if run.status in FINISHED or run.status in PARKED:
        return ""
    share = measure_share(progress)
    left = estimate_left(progress, now, likely)
    parts = [f"{share:.0%}", _describe_step(progress), _describe_left(left)]
    line = " · ".join(part for part in parts if part)
    label, percent = escape(say("pace.label")), round(share * 100)
    bar = f'role="progressbar" aria-label="{label}" aria-valuenow="{percent}"><i style="width:{percent}%"></i>'
    return f'<div class="r-pace"><div class="r-bar" {bar}</div><span>{escape(line)}</span></div>'


def _describe_step(progress: WatchedProgress) -> str:
    if progress.draft and progress.written < len(progress.draft):
        return say("pace.writing", n=progress.written, all=len(progress.draft))
    if progress.draft:
        return say("pace.checking")
    if progress.find_stage(REPORT).state != "waiting":
        return say("pace.outlining")
    if progress.plan and progress.plan.subtasks:
        states = [progress.find_stage(f"search/{subtask.id}").state for subtask in progress.plan.subtasks]
        done = sum(state not in ("waiting", "running") for state in states)
        return say("pace.searching", n=done, all=len(states))
    return say("pace.planning") if progress.status == "running" else ""


def _describe_left(left: timedelta | None) -> str:
    if left is None:
        return ""
    minutes = math.ceil(left.total_seconds() / 60)
    return say("pace.minutes_left", n=minutes) if minutes > 1 else say("pace.soon")
