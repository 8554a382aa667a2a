"""Adds the audit log and webhooks to the fake API."""

from tests.ui.fake_accounts import WHEN
from tests.ui.fake_api import FakeApi, Json

SIGNING = "whsec_shown-once"


def add_audit_log(api: FakeApi) -> None:
    """Add three entries on two pages, and their table."""
    whose = {"user_id": "u1", "email": "ann@example.org", "address": "203.0.113.9", "at": WHEN}
    entries: list[Json] = [
        {"id": "a1", **whose, "action": "webhook_made", "subject": "w1", "detail": {"host": "<b>hooks.example</b>"}},
        {"id": "a2", **whose, "user_id": None, "email": "", "action": "role_changed", "subject": "u2", "detail": {}},
        {"id": "a3", **whose, "action": "something_newer", "subject": "", "detail": {}, "key_id": "0123456789"},
    ]
    api.answer("GET", "/v1/audit", lambda *_: {"items": entries, "next": "a3"})
    api.answer("GET", "/v1/audit/export", lambda *_: b"time,person")


def add_webhook(api: FakeApi) -> Json:
    """Add an endpoint that was turned off for failing, with messages that arrived, failed and wait."""
    hook: Json = {
        **{"id": "w1", "url": "https://hooks.example/in", "description": "Night <watch>", "events": ["run.completed"]},
        **{"enabled": False, "disabled_reason": "the endpoint answered 410 Gone", "created_at": WHEN, "failing_since": WHEN},
    }
    sent = [
        {"id": "d1", "type": "run.completed", "state": "failed", "attempts": 3, "status": 503, "error": "<i>busy</i>"},
        {"id": "d2", "type": "webhook.test", "state": "delivered", "attempts": 1, "status": 204},
        {"id": "d3", "type": "webhook.test", "state": "pending", "attempts": 1, "error": "no connection"},
    ]
    messages = [{**message, "webhook_id": "w1", "created_at": WHEN} for message in sent]

    def turned(_: object, body: Json | None) -> Json:
        hook.update(body or {}, disabled_reason="")
        return hook

    api.answer("GET", "/v1/webhooks", lambda *_: {"items": [hook], "next": None})
    api.answer("POST", "/v1/webhooks", lambda *_: {"webhook": hook, "secret": SIGNING})
    api.answer("GET", "/v1/webhooks/w1", lambda *_: hook)
    api.answer("PATCH", "/v1/webhooks/w1", turned)
    api.answer("DELETE", "/v1/webhooks/w1", lambda *_: {})
    api.answer("POST", "/v1/webhooks/w1/test", lambda *_: messages[1])
    api.answer("POST", "/v1/webhooks/w1/secret", lambda *_: {"webhook": hook, "secret": SIGNING + "-too"})
    api.answer("GET", "/v1/webhooks/w1/deliveries", lambda *_: {"items": messages, "next": None})
    api.answer("POST", r"/v1/webhooks/deliveries/\w+/replay", lambda *_: messages[0])
    return hook
