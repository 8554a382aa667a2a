"""Adds three systems side by side to the fake API: two wrote a report, one failed."""

import copy
from re import Match

from tests.ui.example_runs import QUESTION, add_finished_run
from tests.ui.fake_api import FakeApi, FakeRun, Json
from tests.ui.fake_asking import CRITERIA

SYSTEMS = ("minddr", "mams", "react")


def add_side_by_side(api: FakeApi) -> tuple[FakeRun, Json]:
    """Add the runs; return the first run, and what the API shows of all."""
    runs = [add_finished_run(api), add_finished_run(api), api.add(FakeRun(QUESTION))]
    for run, system in zip(runs, SYSTEMS, strict=True):
        run.fields["query"]["system"] = system
    runs[1].report = copy.deepcopy(runs[0].report) or {}
    runs[1].report["title"] = "Duties, step by step"
    runs[1].report["citations"].append(
        {**runs[1].report["citations"][0], "n": 3, "source": {"title": "Only here", "url": "https://example.org/only"}}
    )
    runs[2].emit("status_changed", {"status": "failed", "detail": "the model <b>was away</b>"})
    cards = [make_scores(0.9, 0.1, None), make_scores(0.35, 0.8, 0.5), None]
    counts: list[Json | None] = [{"turns": 21, "tool_calls": 12}, {"turns": 4, "tool_calls": 6}, None]
    columns = [
        {"run": run.fields, "interactions": count, "scorecard": scores}
        for run, count, scores in zip(runs, counts, cards, strict=True)
    ]
    shown: Json = {"first": runs[0].id, "question": QUESTION, "rubric": {"criteria": CRITERIA}, "columns": columns}

    def added(_: Match[str], body: Json | None) -> Json:
        return shown

    for run in runs:
        api.answer("GET", f"/v1/runs/{run.id}/side-by-side", lambda *_: shown)
    api.answer("POST", f"/v1/runs/{runs[0].id}/side-by-side", added)
    return runs[0], shown


def make_scores(first: float, fault: float, second: float | None) -> Json:
    """Make scores of the first criterion, the fault and the second criterion, which may be unjudged."""
    last: Json = {"score": second, "reason": "In part."} if second is not None else {"score": None, "missing": "no <i>model</i>"}
    items = [
        {"criterion": CRITERIA[0], "score": first, "reason": "Covered <b>at length</b>."},
        {"criterion": CRITERIA[6], "score": fault, "reason": "As it is."},
        {"criterion": CRITERIA[1], **last},
    ]
    return {"items": items, "overall": first, "judged": 2 + (second is not None), "revised": []}
