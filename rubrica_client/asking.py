"""Before a run and after it: estimates, questions back, rubrics, scorecards."""

from collections.abc import Sequence

from rubrica_client.models import (
    Clarifications,
    Criterion,
    DraftedRubric,
    EditedRubric,
    Estimate,
    NewRun,
    RubricView,
    Scorecard,
    SuggestedCollections,
)
from rubrica_client.request import DRAFTING, Request


def estimate(new: NewRun) -> Request[Estimate]:
    """Estimate what a run of this question will take."""
    return Request("POST", ("v1", "estimates"), Estimate, body=new)


def suggest(new: NewRun) -> Request[SuggestedCollections]:
    """Find the collections that a run of this question would search besides the default one."""
    return Request("POST", ("v1", "suggestions"), SuggestedCollections, body=new)


def clarify(new: NewRun) -> Request[Clarifications]:
    """Ask for questions back; the answers go into the run as `clarified`."""
    return Request("POST", ("v1", "clarifications"), Clarifications, body=new, timeout=DRAFTING)


def draft_rubric(new: NewRun) -> Request[DraftedRubric]:
    """Draft a rubric, to be shown and edited before the run."""
    return Request("POST", ("v1", "rubrics"), DraftedRubric, body=new, timeout=DRAFTING)


def rubric(run_id: str) -> Request[RubricView]:
    """Return the rubric of a run."""
    return Request("GET", ("v1", "runs", run_id, "rubric"), RubricView)


def edit_rubric(run_id: str, criteria: Sequence[Criterion]) -> Request[RubricView]:
    """Replace the rubric of a run."""
    return Request("PUT", ("v1", "runs", run_id, "rubric"), RubricView, body=EditedRubric(criteria=criteria))


def scorecard(run_id: str) -> Request[Scorecard]:
    """Return how well a report does what its rubric asks."""
    return Request("GET", ("v1", "runs", run_id, "scorecard"), Scorecard)
