"""Adds estimates, questions back, rubrics and scorecards to the fake API."""

from re import Match

from tests.ui.example_runs import PLAN, QUESTION
from tests.ui.fake_api import FakeApi, FakeRun, Json

CRITERIA: list[Json] = [
    {"title": f"Aspect {n}", "description": f"Important Criterion: The report covers aspect {n}.", "weight": 3}
    for n in range(1, 7)
]
CRITERIA.append({"title": "No invention", "description": "Error Criterion: The report invents a quotation.", "weight": -2})


def add_estimate(api: FakeApi, refusal: str = "") -> None:
    """Add an estimate from five runs, and one question back."""
    seconds, cost = {"low": 180, "likely": 240, "high": 420}, {"low": 20_000, "likely": 40_000, "high": 60_000}
    tokens = {"low": 40_000, "likely": 60_000, "high": 90_000}
    estimate = {"tokens": tokens, "cost_microusd": cost, "seconds": seconds, "runs": 5, "within_budget": True, "refusal": refusal}
    api.answer("POST", "/v1/estimates", lambda *_: estimate)
    question = {"question": "Which period?", "why": "It spans a century.", "options": ["1789-1860", "1861-1900"]}
    api.answer("POST", "/v1/clarifications", lambda *_: {"questions": [question]})


def add_collections(api: FakeApi, *names: str, fitting: tuple[str, ...] = ()) -> None:
    """Add collections of the visitor, some of which fit every question."""
    made = [{"id": f"c{n}", "name": name, "created_at": "2026-01-05T09:30:00Z"} for n, name in enumerate(names)]
    api.answer("GET", "/v1/collections", lambda *_: {"items": made, "next": None})
    api.answer("POST", "/v1/suggestions", lambda *_: {"collections": list(fitting)})


def add_run_awaiting_approval(api: FakeApi) -> FakeRun:
    """Add a run whose plan and rubric wait for approval."""
    run = api.add(FakeRun(QUESTION, plan=PLAN))
    run.emit("run_created", {"question": QUESTION})
    run.emit("plan_made", {"plan": PLAN}, "plan")
    run.emit("rubric_drafted", {"criteria": 7})
    run.emit("status_changed", {"status": "awaiting_approval", "detail": "the plan waits for approval"})
    rubric: Json = {
        "rubric": {"criteria": CRITERIA, "origin": "general", "notice": "Made of <b>general</b> demands."},
        "drafted": None,
    }

    def edited(_: Match[str], body: Json | None) -> Json:
        rubric["rubric"]["criteria"] = (body or {})["criteria"]
        return rubric

    def approved(_: Match[str], __: Json | None) -> Json:
        run.emit("status_changed", {"status": "running", "detail": ""})
        return run.fields

    path = f"/v1/runs/{run.id}"
    api.answer("GET", f"{path}/rubric", lambda *_: rubric)
    api.answer("PUT", f"{path}/rubric", edited)
    api.answer("PUT", f"{path}/plan", lambda _, body: body)
    api.answer("POST", f"{path}/approve", approved)
    return run


def add_scorecard(api: FakeApi, run: FakeRun, fault: float = 0.8) -> None:
    """Add the scorecard of a finished run: one criterion met, one fault, one that nobody could judge."""
    items = [
        {"criterion": CRITERIA[0], "score": 0.9, "reason": "Covered at length."},
        {"criterion": CRITERIA[6], "score": fault, "reason": "One <i>quotation</i> is invented."},
        {"criterion": CRITERIA[1], "score": None, "missing": "Not judged: no model is set"},
    ]
    card = {"items": items, "overall": 0.62, "judged": 2, "revised": ["Aspect 1"]}
    api.answer("GET", f"/v1/runs/{run.id}/scorecard", lambda *_: card)
