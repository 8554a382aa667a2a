"""How far a run has come, and how long it will probably still take."""

from datetime import datetime, timedelta

from ui.progress import PLAN, REPORT, WatchedProgress

# What share of a run's work is done when its plan is made, when its searches are, and when all sections are written.
PLANNED, SEARCHED, WRITTEN = 0.1, 0.65, 0.95
UNDER_WAY = 0.25  # of a step that has begun


def measure_share(progress: WatchedProgress) -> float:
    """Return the share of the work that is done, from 0 to 1, by the steps of the plan and the sections of the report."""
    if progress.status == "completed":
        return 1.0
    if progress.find_stage(REPORT).state != "waiting":
        written = progress.written / len(progress.draft) if progress.draft else 0.0
        return SEARCHED + (WRITTEN - SEARCHED) * written
    if progress.plan and progress.plan.subtasks:
        stages = [progress.find_stage(f"search/{subtask.id}") for subtask in progress.plan.subtasks]
        done = sum({"waiting": 0.0, "running": UNDER_WAY}.get(stage.state, 1.0) for stage in stages)
        return PLANNED + (SEARCHED - PLANNED) * done / len(stages)
    return PLANNED if progress.find_stage(PLAN).state == "done" else 0.0


def estimate_left(progress: WatchedProgress, now: datetime, likely: timedelta | None) -> timedelta | None:
    """Return the time that a run at work will probably still take; None while nobody can say.

    `likely` is what such runs take. The further this run has come, the more its own pace counts.
    """
    if progress.status != "running":
        return None
    worked, share = progress.working_time_until(now), measure_share(progress)
    by_pace = worked * (1 - share) / share if share > PLANNED else None
    by_others = max(likely - worked, timedelta()) if likely else None
    if by_pace is None or by_others is None:
        return by_pace or by_others
    return by_others * (1 - share) + by_pace * share
