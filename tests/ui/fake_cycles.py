"""Adds cycles of training to the fake API."""

from typing import Any

from tests.ui.fake_accounts import WHEN
from tests.ui.fake_api import FakeApi, Json

PLAN: Json = {
    **{"name": "weekly", "cron": "0 3 * * sun", "time_zone": "UTC", "next_at": WHEN, "under_way": None, "fault": ""},
    "needs": [
        {"what": "pairs", "stage": "", "least": 100, "found": 1_038, "missing": 0},
        {"what": "readers", "stage": "", "least": 5, "found": 3, "missing": 2},
        {"what": "rows", "stage": "rubric", "least": 200, "found": 31, "missing": 169},
        {"what": "rows", "stage": "writer", "least": 50, "found": None, "missing": 0},
    ],
}
CHECKS: Json = {"pairs": 412, "readers": 9, "left_out": {"too quick": 3}}
GATE: Json = {
    "rows": [
        {
            **{"metric": "wins of <b>readers</b>", "kind": "proof", "queries": 240, "verdict": "passed", "reason": ""},
            **{"before": 0.5, "after": 0.58, "difference": 0.08, "low": 0.02, "high": 0.14, "margin": 0.0},
        }
    ]
}


def make_cycle(n: int, state: str, **told: Any) -> Json:
    """A cycle as the API tells it."""
    ended = None if state in ("running", "waiting", "paused") else WHEN
    return {
        **{"id": f"cycle{n}", "plan": "weekly", "state": state, "wish": "go", "detail": "", "step": "", "stage": ""},
        **{"asks": False, "since": WHEN, "asked_by": "schedule", "created_at": WHEN, "ended_at": ended, "last_seq": 5},
    } | told


def add_cycles(api: FakeApi, *cycles: Json, plans: tuple[Json, ...] = (PLAN,)) -> None:
    """Add cycles, newest first, each with the same steps, papers and log."""
    known = {cycle["id"]: cycle for cycle in cycles}
    step = {
        **{"attempt": 1, "started_at": WHEN, "ended_at": WHEN, "verdict": "done", "detail": "", "figures": {}},
        **{"usd": 0.25, "device_seconds": 1_800},
    }
    steps = [
        step | {"step": "check", "figures": CHECKS},
        step | {"step": "rubric.train", "attempt": 2},
        step | {"step": "rubric.gate", "figures": GATE, "verdict": "refused", "detail": "citations <fell>"},
    ]
    events = [
        {"seq": 1, "type": "cycle_started", "payload": {"plan": "weekly", "asked_by": "schedule"}, "at": WHEN},
        {"seq": 2, "type": "step_progress", "payload": {"step": "rubric.train", "loss": 0.25}, "at": WHEN},
        {
            "seq": 3,
            "type": "state_changed",
            "payload": {"wish": "pause", "by": "ada_b@example.org", "why": "a <fair>"},
            "at": WHEN,
        },
        {"seq": 4, "type": "state_changed", "payload": {"state": "paused", "detail": "before rubric.gate"}, "at": WHEN},
        {"seq": 5, "type": "step_finished", "payload": {"step": "rubric.gate", "verdict": "refused"}, "at": WHEN},
    ]
    papers = [{"step": "rubric.gate", "text": "# Gate: refused\n\n| metric |\n|---|\n"}]
    whole = {"approve": [], "cap_usd": 20, "cap_device_hours": 8, "steps": steps, "papers": papers}
    api.answer("GET", "/v1/registry/cycles", lambda *_: {"items": list(cycles), "next": None})
    api.answer("GET", r"/v1/registry/cycles/(\w+)", lambda match, _: whole | {"cycle": known[match.group(1)]})
    api.answer("GET", r"/v1/registry/cycles/\w+/events", lambda *_: {"items": events, "next": None})
    api.answer("GET", "/v1/registry/plans", lambda *_: {"items": list(plans)})
    for act in ("approve", "pause", "go", "stop"):
        api.answer("POST", rf"/v1/registry/cycles/(\w+)/{act}", lambda match, _: known[match.group(1)])
    api.answer("POST", r"/v1/registry/plans/[\w-]+/start", lambda *_: make_cycle(9, "running", step="snapshot"))
