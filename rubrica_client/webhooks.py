"""Webhooks: addresses that hear what happens to runs."""

from rubrica_client.models import (
    Delivery,
    DeliveryPage,
    NewWebhook,
    RevealedWebhook,
    Webhook,
    WebhookChange,
    WebhookPage,
)
from rubrica_client.request import Request


def list_(limit: int | None = None, before: str | None = None) -> Request[WebhookPage]:
    """List the webhooks, newest first."""
    return Request("GET", ("v1", "webhooks"), WebhookPage, query={"limit": limit, "before": before})


def get(webhook_id: str) -> Request[Webhook]:
    """Return one webhook."""
    return Request("GET", ("v1", "webhooks", webhook_id), Webhook)


def create(new: NewWebhook) -> Request[RevealedWebhook]:
    """Add a webhook; its secret is in this answer only."""
    return Request("POST", ("v1", "webhooks"), RevealedWebhook, body=new)


def change(webhook_id: str, changed: WebhookChange) -> Request[Webhook]:
    """Change the fields that are set in `changed`."""
    return Request("PATCH", ("v1", "webhooks", webhook_id), Webhook, body=changed)


def rotate_secret(webhook_id: str) -> Request[RevealedWebhook]:
    """Give a webhook a new secret."""
    return Request("POST", ("v1", "webhooks", webhook_id, "secret"), RevealedWebhook)


def delete(webhook_id: str) -> Request[None]:
    """Remove a webhook."""
    return Request("DELETE", ("v1", "webhooks", webhook_id), type(None))


def send_test(webhook_id: str) -> Request[Delivery]:
    """Send a test message to a webhook."""
    return Request("POST", ("v1", "webhooks", webhook_id, "test"), Delivery)


def deliveries(
    webhook_id: str, state: str | None = None, limit: int | None = None, before: str | None = None
) -> Request[DeliveryPage]:
    """List the messages to a webhook with their state, newest first."""
    query = {"limit": limit, "before": before, "state": state}
    return Request("GET", ("v1", "webhooks", webhook_id, "deliveries"), DeliveryPage, query=query)


def replay(delivery_id: str) -> Request[Delivery]:
    """Send a message again."""
    return Request("POST", ("v1", "webhooks", "deliveries", delivery_id, "replay"), Delivery)
