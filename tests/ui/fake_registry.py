"""Adds the registry of trained models to the fake API."""

from tests.ui.fake_accounts import WHEN
from tests.ui.fake_api import FakeApi, Json

GATE: Json = {
    "verdict": "refused",
    "reasons": ["citations: the lower end of the interval is below the margin"],
    "rows": [
        {
            **{"metric": "wins of readers", "kind": "proof", "queries": 240, "verdict": "passed", "reason": ""},
            **{"before": 0.5, "after": 0.58, "difference": 0.08, "low": 0.02, "high": 0.14, "margin": 0.0},
        },
        {
            **{"metric": "<b>citations</b>", "kind": "proof", "queries": 240, "verdict": "not known", "reason": "too few"},
            **{"before": 0.91, "after": 0.9, "difference": -0.01, "low": -0.04, "high": 0.02, "margin": 0.02},
        },
    ],
    "worst": [{"metric": "citations", "items": [{"item": "q1"}]}],
}

COURSE: Json = {
    "canary": "c1",
    "arms": [{"arm": "canary", "runs": 1200, "failed": 6}, {"arm": "stable", "runs": 0, "failed": 0}],
    "votes": [
        {"day": "2026-11-01", "votes": 3, "won": 1, "rate": 0.333, "low": 0.0, "high": 0.99},
        {"day": "2026-11-02", "votes": 40, "won": 26, "rate": 0.65, "low": 0.41, "high": 0.84},
    ],
}


def add_registry(api: FakeApi, may_act: bool = True, operates: bool = False) -> Json:
    """Add four versions of two roles, one of which serves, one in a canary; return the one that serves."""

    def version(n: int, state: str, parent: str | None, role: str = "writer") -> Json:
        return {
            **{"id": f"{role}{n}", "name": f"{role}-v{n}-{'ab' * 6}", "role": role, "number": n, "parent": parent, "rows": 412},
            **{"state": state, "recipe": "preference_dpo", "base": "Qwen/Qwen3-4B", "licence": "apache-2.0", "created_at": WHEN},
            **{"also": ["searcher"] if n == 2 else [], "notation": "tags", "artifact": "ab" * 32, "on_erasure": "retrain"},
        }

    first, serves = version(1, "retired", None), version(2, "serving", "writer1")
    tried, searcher = version(3, "canary", "writer2"), version(1, "refused", "writer1", "searcher")
    versions = [tried, serves, searcher, first]
    canary = {
        **{"id": "c1", "version": "writer3", "role": "writer", "served": tried["name"], "share": 0.1, "state": "running"},
        **{"why": "", "started_at": WHEN, "ended_at": None, "also": []},
    }
    held = {"by": "ada@example.org", "why": "a <fair>", "at": WHEN}
    roles = [
        {"role": "writer", "served": serves["name"], "since": WHEN, "version": serves, "held": None, "canary": canary},
        {"role": "judge", "served": "base-model", "since": WHEN, "version": None, "held": held, "canary": None},
        {"role": "planner", "served": "", "since": None, "version": None, "held": None, "canary": None},
    ]
    move = {"role": "writer", "came_from": first["name"], "went_to": serves["name"], "by": "canary", "why": "won", "at": WHEN}
    detail = {
        **{"version": serves, "sets": [], "judgements": 409, "configuration": {}, "moves": [move], "lineage": versions[::-1]},
        "changes": [{"state": "candidate", "by": "cycle", "why": "made", "at": WHEN}],
        "evaluations": [
            {"kind": "training", "figures": {"curves": {"loss": [[10, 2.0], [20, 0.5], [30, 0.8]]}}, "at": WHEN},
            {"kind": "gate", "figures": GATE, "at": WHEN},
        ],
        "courses": [COURSE] if operates else [],
        "canaries": [canary | {"state": "promoted", "why": "won", "ended_at": WHEN}],
    }
    votes = {"choices": 20, "learned": [{"version": serves, "own": 14, "judgements": 412}]}
    api.answer("GET", "/v1/registry/roles", lambda *_: {"items": roles, "may_act": may_act, "operates": operates})
    api.answer("GET", "/v1/registry/versions", lambda *_: {"items": versions, "next": None})
    api.answer("GET", r"/v1/registry/versions/\w+", lambda *_: detail)
    api.answer("GET", r"/v1/registry/versions/\w+/card", lambda *_: b"# A card")
    api.answer("GET", "/v1/registry/moves", lambda *_: {"items": [move], "next": None})
    api.answer("GET", "/v1/registry/my-votes", lambda *_: votes)
    api.answer("POST", r"/v1/registry/versions/\w+/promote", lambda *_: serves)
    for act in ("hold", "release", "back"):
        api.answer("POST", rf"/v1/registry/roles/\w+/{act}", lambda *_: {})
    return serves


def add_no_models(api: FakeApi) -> None:
    """Add a registry in which nothing is."""
    api.answer("GET", "/v1/registry/roles", lambda *_: {"items": [], "may_act": True, "operates": False})
    for path in ("versions", "moves"):
        api.answer("GET", f"/v1/registry/{path}", lambda *_: {"items": [], "next": None})
    api.answer("GET", "/v1/registry/my-votes", lambda *_: {"choices": 0, "learned": []})
