"""Adds comparisons, stars and flags to the fake API, as far as the pages need them."""

from re import Match
from typing import Any
from uuid import uuid4

from tests.ui.fake_api import START, FakeApi, FakeRun, Json

WHEN = START.isoformat()
SHOWN = ("title", "markdown", "citations", "claims")


def add_comparison(api: FakeApi, run: FakeRun) -> Json:
    """Add a comparison of this run's report with a second one; blind until it is revealed."""
    report = run.report or {}
    second = {**report, "title": "Duties", "markdown": "# Duties\n\nThe second text [2]."}
    shown = {name: {k: r.get(k, []) for k in SHOWN} for name, r in (("left", second), ("right", report))}
    comparison: Json = {
        "id": str(uuid4()),
        "run_id": run.id,
        "question": run.fields["query"]["question"],
        "status": "ready",
        **shown,
    }
    comparison |= {"choice": None, "revealed": False, "detail": ""}
    path = f"/v1/comparisons/{comparison['id']}"

    def choose(_: Match[str], body: Json | None) -> Json:
        comparison["choice"] = {**(body or {}), "made_at": WHEN, "changeable_until": WHEN, "seconds": 12.0}
        return comparison["choice"]

    def reveal(_: Match[str], __: Json | None) -> Json:
        comparison["revealed"] = True
        cost = {"tokens": 5_000, "cost_microusd": 12_000}
        sides = {
            "left": {"delivered": False, "way": "model stub at 1.0", **cost},
            "right": {"delivered": True, "way": "model stub", **cost},
        }
        return sides | {"choice": comparison["choice"]}

    api.answer("GET", path, lambda *_: comparison)
    api.answer("POST", f"{path}/choice", choose)
    api.answer("POST", f"{path}/reveal", reveal)
    api.answer("POST", "/v1/comparisons", lambda *_: comparison)
    ways = [("stub at 0.8", {"temperature": 0.8}), ("quotations: time", {"agents": "brief", "arrangement": "time"})]
    api.answer("GET", "/v1/preferences/ways", lambda *_: {"items": [{"name": n, "writer": w} for n, w in ways]})
    item = {**{k: comparison[k] for k in ("id", "run_id", "question", "status")}, "created_at": WHEN, "chosen": False}
    api.answer("GET", "/v1/comparisons", lambda *_: {"items": [item], "next": None})
    return comparison


def record_feedback(api: FakeApi) -> list[Any]:
    """Take stars and flags; return the list of what was sent."""
    sent: list[Any] = []

    def note(found: Match[str], body: Json | None) -> Json:
        sent.append((found[0].rsplit("/", 2)[-2:], body))
        return {"stars": 4, "comment": "", "made_at": WHEN, "claim": 0, "text": "", "reason": ""} | (body or {})

    api.answer("POST", r"/v1/runs/[\w-]+/rating", note)
    api.answer("POST", r"/v1/runs/[\w-]+/claims/\d+/flag", note)
    return sent
