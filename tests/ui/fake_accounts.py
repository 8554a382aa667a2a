"""Adds people, keys, own documents and schedules to the fake API."""

from re import Match

from app.accounts.nouns.access import SCOPES_OF_ROLE, Role
from tests.ui.fake_api import START, FakeApi, Json

WHEN = START.isoformat()
SECRET = "rbk_1_shown-once"
TOKEN = "a-token-of-a-session"


def add_organisation(api: FakeApi, role: str = "owner") -> Json:
    """Add an organisation of two; the caller has the role."""
    scopes = sorted(SCOPES_OF_ROLE[Role(role)])
    organisation = {"id": "o1", "name": "Custom <House>", "role": role}
    me = {"user_id": "u1", "email": "ann@example.org", "name": "Ann", "organisation": organisation, "scopes": scopes}
    people = [
        {"user_id": f"u{n}", "email": f"{name.lower()}@example.org", "name": name, "role": r, "joined_at": WHEN}
        for n, (name, r) in enumerate((("Ann", role), ("Bo", "member")), 1)
    ]
    key = {"id": "k1", "name": "nightly", "scopes": ["runs:read"], "created_at": WHEN}
    api.answer("GET", "/v1/me", lambda *_: me)
    api.answer("GET", "/v1/members", lambda *_: {"items": people, "next": None})
    api.answer("PATCH", r"/v1/members/\w+", lambda *_: {})
    api.answer("GET", "/v1/invitations", lambda *_: {"items": []})
    invitation = {"id": "i1", "email": "cy@example.org", "role": "member", "expires_at": WHEN}
    api.answer("POST", "/v1/invitations", lambda *_: {"token": "hand-me-over", "invitation": invitation})
    api.answer("GET", "/v1/keys", lambda *_: {"items": [key]})
    api.answer("POST", "/v1/keys", lambda *_: {"key": SECRET, "info": key})
    api.answer("DELETE", r"/v1/keys/\w+", lambda *_: {})
    return me


def add_collection(api: FakeApi) -> Json:
    """Add a collection with a document that is being read and one that could not be."""
    collection = {
        "id": "c1",
        "name": "Letters *1846*",
        "documents": 2,
        "bytes": 1_200_000,
        "created_at": WHEN,
        "access": {"everyone": True},
    }
    documents: list[Json] = [
        {"id": "d1", "name": "peel.pdf", "bytes": 812, "state": "parsed", "received_at": WHEN},
        {
            "id": "d2",
            "name": "<b>.pdf",
            "bytes": 1_000,
            "state": "failed",
            "detail": "no text: <i>scanned</i>",
            "received_at": WHEN,
        },
    ]

    def received(_: Match[str], body: Json | None) -> Json:
        assert b"filename=" in (body or {})["raw"]
        return {"items": [documents[0]], "refused": [{"name": "x.exe", "reason": "not a kind of file that is read"}]}

    def allowed(_: Match[str], body: Json | None) -> Json:
        collection["access"] = body
        return collection

    api.answer("GET", "/v1/collections", lambda *_: {"items": [collection], "next": None})
    api.answer("POST", "/v1/collections", lambda *_: collection)
    api.answer("GET", "/v1/collections/c1", lambda *_: collection)
    api.answer("PUT", "/v1/collections/c1/access", allowed)
    api.answer("GET", "/v1/collections/c1/documents", lambda *_: {"items": documents, "next": None})
    api.answer("POST", "/v1/collections/c1/documents", received)
    api.answer("DELETE", r"/v1/collections/c1(/documents/\w+)?", lambda *_: {})
    return collection


def add_schedule(api: FakeApi) -> Json:
    """Add a weekly question; its latest asking refuted a claim."""
    schedule: Json = {
        **{"id": "s1", "name": "Tariffs weekly", "query": {"question": "Which tariffs?"}, "paused": False, "next_at": WHEN},
        "timing": {"cron": "0 7 * * 1", "time_zone": "UTC"},
    }
    source = {"title": "1846", "url": "https://example.org/1846", "text": "It was <raised>."}
    stood = source | {"text": "It was lowered."}
    fallen = {"claim": "Duties were lowered.", "why": "opposed", "support": "contradicted", "after": [source], "before": [stood]}
    firing = {
        "due_at": WHEN,
        "outcome": "changed",
        "run_id": "r1",
        "baseline_id": "r0",
        "changes": {"fallen": [fallen], "new_sources": [source]},
    }
    api.answer("GET", "/v1/schedules", lambda *_: {"items": [schedule], "next": None})
    api.answer("POST", "/v1/schedules", lambda *_: schedule)
    api.answer("GET", "/v1/schedules/s1", lambda *_: schedule)
    api.answer("PATCH", "/v1/schedules/s1", lambda _, body: schedule | (body or {}))
    api.answer("POST", "/v1/schedules/s1/trigger", lambda *_: {})
    api.answer("GET", "/v1/schedules/s1/changes", lambda *_: {"items": [firing], "next": None})
    return schedule


def add_usage(api: FakeApi) -> None:
    """Add what the organisation used this month, its limits, and its consent."""
    total = {"runs": 2, "tokens": 45_100, "cost_microusd": 1_500_000}
    lines = [{"kind": "tool", "name": "search <web>", "calls": 4}, {"kind": "deleted", "name": "", "calls": 2}]
    asked = {"created_at": WHEN, "model_calls": 3, "input_tokens": 40_000, "made_for": "r0"}
    runs = [{"run_id": f"r{n}", "question": q, "cost_microusd": n, **asked} for n, q in ((1, "Cheap?"), (2, "Dear?"))][::-1]
    report = {"since": "2026-01-01", "until": "2026-01-05", "total": total, "lines": lines, "runs": runs[:1]}
    quotas = {"organisation": {"tokens_per_month": 100_000, "requests_per_minute": 60}, "keys": [], "used": total}
    consent = {"given": False, "person_since": None, "organisation_since": WHEN}
    api.answer("GET", "/v1/usage", lambda *_: report)
    api.answer("GET", "/v1/quotas", lambda *_: quotas)
    api.answer("PUT", "/v1/quotas", lambda *_: quotas)
    api.answer("GET", "/v1/consent", lambda *_: consent)
    api.answer("PUT", "/v1/consent", lambda *_: consent)
