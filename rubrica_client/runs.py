"""Runs: create, read and steer them."""

from collections.abc import Sequence
from datetime import date

from rubrica_client.models import (
    AddedNote,
    Budget,
    NewNote,
    NewRun,
    PurposePage,
    ResearchPlan,
    Resumption,
    Run,
    RunPage,
    SideBySideView,
    Subtask,
)
from rubrica_client.request import DRAFTING, Request

# The final states of a run, and those in which it waits for a person.
FINISHED = frozenset({"completed", "failed", "cancelled"})
PARKED = frozenset({"awaiting_approval", "paused", "budget_reached"})


def create(new: NewRun) -> Request[Run]:
    """Ask a question. If it goes to several systems, the answer comes after one rubric for all is drafted."""
    return Request("POST", ("v1", "runs"), Run, body=new, timeout=DRAFTING if new.beside else None).with_key()


def list_(
    limit: int | None = None,
    before: str | None = None,
    words: str = "",
    phase: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    *,
    own: bool = False,
) -> Request[RunPage]:
    """List runs, newest first: those that have all `words` in question or report, in this phase, of these days, one's `own`."""
    narrowed = {"q": words, "phase": phase, "since": since, "until": until, "own": "true" if own else None}
    return Request("GET", ("v1", "runs"), RunPage, query={"limit": limit, "before": before, **narrowed})


def get(run_id: str) -> Request[Run]:
    """Return one run as it stands."""
    return Request("GET", ("v1", "runs", run_id), Run)


def usage(run_id: str) -> Request[PurposePage]:
    """Return what the run's model calls used, by what they were for."""
    return Request("GET", ("v1", "runs", run_id, "usage"), PurposePage)


def delete(run_id: str) -> Request[None]:
    """Delete a finished run, with its report and all else that came of it."""
    return Request("DELETE", ("v1", "runs", run_id), type(None))


def pause(run_id: str) -> Request[Run]:
    """Pause a run after the turns under way; everything is kept."""
    return Request("POST", ("v1", "runs", run_id, "pause"), Run)


def resume(run_id: str, *, finish: bool = False, present_models: bool = False) -> Request[Run]:
    """Resume a run; with `finish`, write the report from what there is and spend nothing more.

    With `present_models`, roles whose model is gone get the model that has the role now.
    """
    wish = Resumption(finish=finish, present_models=True) if present_models else Resumption(finish=finish)
    return Request("POST", ("v1", "runs", run_id, "resume"), Run, body=wish)


def approve(run_id: str) -> Request[Run]:
    """Approve the plan as it stands, and carry it out."""
    return Request("POST", ("v1", "runs", run_id, "approve"), Run)


def cancel(run_id: str) -> Request[Run]:
    """End a run for good."""
    return Request("POST", ("v1", "runs", run_id, "cancel"), Run)


def add_note(run_id: str, text: str) -> Request[AddedNote]:
    """Send the agents a note; they read it when they start their next stage."""
    return Request("POST", ("v1", "runs", run_id, "notes"), AddedNote, body=NewNote(text=text)).with_key()


def set_budget(run_id: str, budget: Budget) -> Request[Run]:
    """Replace the hard cap of a run."""
    return Request("PUT", ("v1", "runs", run_id, "budget"), Run, body=budget)


def plan(run_id: str) -> Request[ResearchPlan]:
    """Return the plan of a run."""
    return Request("GET", ("v1", "runs", run_id, "plan"), ResearchPlan)


def revise_plan(run_id: str, plan: ResearchPlan, revision: int | None = None) -> Request[ResearchPlan]:
    """Replace the plan. Subtasks that stay keep what they have found. With `revision`, only if the plan is still at that one."""
    headers = {} if revision is None else {"If-Match": f'"plan-{revision}"'}
    return Request("PUT", ("v1", "runs", run_id, "plan"), ResearchPlan, body=plan, headers=headers)


def add_subtask(run_id: str, subtask: Subtask) -> Request[ResearchPlan]:
    """Add a subtask to the plan."""
    return Request("POST", ("v1", "runs", run_id, "plan", "subtasks"), ResearchPlan, body=subtask).with_key()


def drop_subtask(run_id: str, subtask_id: str) -> Request[ResearchPlan]:
    """Drop a subtask from the plan."""
    return Request("DELETE", ("v1", "runs", run_id, "plan", "subtasks", subtask_id), ResearchPlan)


def tape(run_id: str) -> Request[bytes]:
    """Return what the tools of a run returned, to be played back without them."""
    return Request("GET", ("v1", "runs", run_id, "tape"), bytes)


def side_by_side(run_id: str) -> Request[SideBySideView]:
    """Return the runs of one question side by side, this one included."""
    return Request("GET", ("v1", "runs", run_id, "side-by-side"), SideBySideView)


def add_systems(run_id: str, systems: Sequence[str]) -> Request[SideBySideView]:
    """Ask further systems the question of a run."""
    return Request(
        "POST", ("v1", "runs", run_id, "side-by-side"), SideBySideView, body={"systems": list(systems)}, timeout=DRAFTING
    )


def judge_side_by_side(run_id: str) -> Request[SideBySideView]:
    """Have the reports without a scorecard judged by one rubric, which is drafted if there is none."""
    return Request("POST", ("v1", "runs", run_id, "side-by-side", "scores"), SideBySideView, body={}, timeout=DRAFTING)
