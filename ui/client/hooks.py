"""Webhooks over HTTP: endpoints, their secrets, and what became of each message."""

from collections.abc import Sequence
from datetime import datetime

from ui.api_client import ApiClient
from ui.models import Answer

EVENTS = (
    *("run.running", "run.awaiting_approval", "run.paused", "run.budget_reached", "run.completed", "run.failed", "run.cancelled"),
    "schedule.changed",
    "fleet.ended",
)
STATES = ("pending", "delivered", "failed")


class Webhook(Answer):
    """An endpoint; without `events` it is told everything. `disabled_reason` says why it was turned off, if not by a person."""

    id: str
    url: str
    description: str = ""
    events: tuple[str, ...] = ()
    enabled: bool = True
    disabled_reason: str = ""
    failing_since: datetime | None = None
    created_at: datetime


class Revealed(Answer):
    """An endpoint with its secret, which is in this answer only."""

    webhook: Webhook
    secret: str


class Delivery(Answer):
    """One message, and how its last attempt went; `state` is `pending`, `delivered` or `failed`."""

    id: str
    type: str
    state: str
    attempts: int = 0
    status: int | None = None
    error: str = ""
    created_at: datetime
    next_attempt_at: datetime | None = None


class WebhookPage(Answer):
    """Endpoints, newest first; `next` brings the following page."""

    items: tuple[Webhook, ...]
    next: str | None = None


class DeliveryPage(Answer):
    """Messages, newest first; `next` brings the following page."""

    items: tuple[Delivery, ...]
    next: str | None = None


def webhooks(api: ApiClient, before: str | None = None) -> WebhookPage:
    """Endpoints."""
    return api._parse(WebhookPage, api._send("GET", "/v1/webhooks", query={"before": before} if before else None))


def webhook(api: ApiClient, id_: str) -> Webhook:
    """One endpoint."""
    return api._parse(Webhook, api._send("GET", f"/v1/webhooks/{id_}"))


def create(api: ApiClient, url: str, description: str, events: Sequence[str]) -> Revealed:
    """Add an endpoint."""
    body = {"url": url, "description": description, "events": list(events)}
    return api._parse(Revealed, api._send("POST", "/v1/webhooks", body=body))


def turn(api: ApiClient, id_: str, on: bool) -> Webhook:
    """Turn an endpoint on or off."""
    return api._parse(Webhook, api._send("PATCH", f"/v1/webhooks/{id_}", body={"enabled": on}))


def rotate(api: ApiClient, id_: str) -> Revealed:
    """Give it a new secret."""
    return api._parse(Revealed, api._send("POST", f"/v1/webhooks/{id_}/secret"))


def remove(api: ApiClient, id_: str) -> None:
    """Remove an endpoint."""
    api._send("DELETE", f"/v1/webhooks/{id_}")


def send_test(api: ApiClient, id_: str) -> None:
    """Send it a message to see that it arrives."""
    api._send("POST", f"/v1/webhooks/{id_}/test")


def deliveries(api: ApiClient, id_: str, state: str | None, before: str | None) -> DeliveryPage:
    """Messages to an endpoint."""
    query = {name: value for name, value in (("state", state), ("before", before)) if value}
    return api._parse(DeliveryPage, api._send("GET", f"/v1/webhooks/{id_}/deliveries", query=query))


def replay(api: ApiClient, delivery: str) -> None:
    """Send a message again."""
    api._send("POST", f"/v1/webhooks/deliveries/{delivery}/replay")
