"""Request and response bodies of webhooks, where they are not nouns of the domain."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.http.plain_text import PLAIN
from app.webhooks.nouns import Delivery, Webhook, WebhookEvent

Url = Annotated[str, Field(min_length=1, max_length=2_000), PLAIN]
Description = Annotated[str, Field(max_length=200), PLAIN]
Events = Annotated[tuple[WebhookEvent, ...], Field(max_length=len(WebhookEvent), description="Empty: all of them.")]


class NewWebhook(BaseModel):
    """An endpoint to send events to."""

    model_config = ConfigDict(extra="forbid")

    url: Url
    description: Description = ""
    events: Events = ()


class WebhookChange(BaseModel):
    """A change of an endpoint; fields that are left out stay as they are."""

    model_config = ConfigDict(extra="forbid")

    url: Url | None = None
    description: Description | None = None
    events: Events | None = None
    enabled: bool | None = None


class RevealedWebhook(BaseModel):
    """An endpoint with the secret that signs its messages. Only this answer shows it."""

    webhook: Webhook
    secret: str


class WebhookPage(BaseModel):
    """One page of endpoints, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[Webhook]
    next: UUID | None = None


class DeliveryPage(BaseModel):
    """One page of messages, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[Delivery]
    next: UUID | None = None
