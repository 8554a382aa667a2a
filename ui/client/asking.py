"""Before a run and around its rubric: estimates, questions back, rubrics, scorecards, approval."""

from collections.abc import Sequence
from typing import Any, TypeVar

from ui.api_client import DRAFTING_LIMIT, ApiClient
from ui.models import Answer, NewRun, Run

A = TypeVar("A", bound=Answer)


class Interval(Answer):
    """Four of five runs end between `low` and `high`."""

    low: int
    likely: int
    high: int


class Estimate(Answer):
    """Tokens, millionths of a US dollar (None: unknown) and seconds; `runs` finished runs are behind it."""

    tokens: Interval
    cost_microusd: Interval | None
    seconds: Interval
    runs: int
    model: str = ""
    within_budget: bool = True


class ClarifyingQuestion(Answer):
    """A question back, with likely answers."""

    question: str
    why: str = ""
    options: tuple[str, ...] = ()


class Clarifications(Answer):
    """At most three questions; mostly none."""

    questions: tuple[ClarifyingQuestion, ...] = ()


class Criterion(Answer):
    """One item of a rubric."""

    title: str
    description: str
    weight: int


class Rubric(Answer):
    """What a report is held to. `origin` is `model`, `general` or `reader`."""

    criteria: tuple[Criterion, ...]
    origin: str = ""
    notice: str = ""


class DraftedRubric(Answer):
    """A rubric for a question that is no run yet; a run names its `id` with the criteria it is asked with."""

    id: str
    rubric: Rubric


class RunRubric(Answer):
    """A run's rubric, and as it was drafted; None where a person wrote it."""

    rubric: Rubric
    drafted: Rubric | None = None


class CriterionScore(Answer):
    """A score from 0 to 1, or the reason why there is none. A high score of an error criterion is a fault."""

    criterion: Criterion
    score: float | None
    reason: str = ""
    sentences: tuple[str, ...] = ()
    judge: str = ""
    missing: str = ""


class Scorecard(Answer):
    """How well a report does what its rubric asks; `revised` names what it was rewritten for."""

    items: tuple[CriterionScore, ...]
    overall: float | None
    judged: int
    revised: tuple[str, ...] = ()


def estimate(api: ApiClient, new: NewRun) -> Estimate:
    """What a run of this question will probably take."""
    return api._parse(Estimate, api._send("POST", "/v1/estimates", body=_body(new)))


def clarify(api: ApiClient, new: NewRun) -> Clarifications:
    """Questions back; answers go into the run as `clarified`."""
    return _drafted(api, Clarifications, "/v1/clarifications", new)


def draft_rubric(api: ApiClient, new: NewRun) -> DraftedRubric:
    """A rubric to show and edit before the run."""
    return _drafted(api, DraftedRubric, "/v1/rubrics", new)


def rubric(api: ApiClient, run_id: str) -> RunRubric:
    """What the run's report is held to."""
    return api._parse(RunRubric, api._send("GET", f"/v1/runs/{run_id}/rubric"))


def edit_rubric(api: ApiClient, run_id: str, criteria: Sequence[Criterion]) -> RunRubric:
    """Replace the run's rubric."""
    body = {"criteria": [criterion.model_dump() for criterion in criteria]}
    return api._parse(RunRubric, api._send("PUT", f"/v1/runs/{run_id}/rubric", body=body))


def scorecard(api: ApiClient, run_id: str) -> Scorecard:
    """How well the report does what its rubric asks."""
    return api._parse(Scorecard, api._send("GET", f"/v1/runs/{run_id}/scorecard"))


def approve(api: ApiClient, run_id: str) -> Run:
    """Carry out the plan as it stands."""
    return api._parse(Run, api._send("POST", f"/v1/runs/{run_id}/approve"))


def _drafted(api: ApiClient, kind: type[A], path: str, new: NewRun) -> A:
    limit = DRAFTING_LIMIT.total_seconds()
    return api._parse(kind, api._request("POST", path, {"Accept": "*/*"}, body=_body(new), timeout=limit))


def _body(new: NewRun) -> dict[str, Any]:
    return new.model_dump(exclude_none=True)
