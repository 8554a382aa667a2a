"""What goes in and out of webhooks' routes, where it is not one of the domain's nouns."""

from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.http.texts import PLAIN
from app.webhooks.nouns import Delivery, Webhook, WebhookEvent

Url = Annotated[str, Field(min_length=1, max_length=2_000), PLAIN]
Description = Annotated[str, Field(max_length=200), PLAIN]
Events = Annotated[tuple[WebhookEvent, ...], Field(max_length=len(WebhookEvent), description="Empty: all of them.")]


class NewWebhook(BaseModel):
    """An endpoint to be told of events."""

    model_config = ConfigDict(extra="forbid")

    url: Url
    description: Description = ""
    events: Events = ()


class WebhookChange(BaseModel):
    """What to change; what is left out stays as it is."""

    model_config = ConfigDict(extra="forbid")

    url: Url | None = None
    description: Description | None = None
    events: Events | None = None
    enabled: bool | None = None


class RevealedWebhook(BaseModel):
    """An endpoint with the secret that its messages are signed with. It is not shown again."""

    webhook: Webhook
    secret: str


class WebhookPage(BaseModel):
    """Endpoints, newest first. `next` is the value of `before` that brings the following page; null on the last."""

    items: list[Webhook]
    next: UUID | None = None


class DeliveryPage(BaseModel):
    """Messages, newest first. `next` is the value of `before` that brings the following page; null on the last."""

    items: list[Delivery]
    next: UUID | None = None
