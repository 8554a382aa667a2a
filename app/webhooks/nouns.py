"""Endpoints that an organisation's messages go to."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from app.domain.value import Value


class WebhookEvent(StrEnum):
    """The types of messages. Those of a run are its changes of status; a fleet's end is one message for all its runs."""

    RUN_RUNNING = "run.running"
    RUN_AWAITING_APPROVAL = "run.awaiting_approval"
    RUN_PAUSED = "run.paused"
    RUN_BUDGET_REACHED = "run.budget_reached"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    FLEET_ENDED = "fleet.ended"
    SCHEDULE_CHANGED = "schedule.changed"
    TEST = "webhook.test"


class DeliveryState(StrEnum):
    """The state of a delivery."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Webhook(Value):
    """An endpoint. Without `events` it gets all of them."""

    id: UUID
    url: str
    description: str = ""
    events: tuple[WebhookEvent, ...] = ()
    enabled: bool = True
    disabled_reason: str = Field(default="", description="Why we turned it off; empty where a person did.")
    failing_since: datetime | None = Field(
        default=None, description="The time since which no delivery has succeeded; null while they do."
    )
    created_at: datetime


class Delivery(Value):
    """One message to one endpoint, and the outcome of its last attempt. Its id is the message's `webhook-id`."""

    id: UUID
    webhook_id: UUID
    type: WebhookEvent
    state: DeliveryState
    attempts: int
    status: int | None = Field(default=None, description="The HTTP status of the last answer.")
    error: str = Field(default="", description="What was wrong with the last attempt.")
    created_at: datetime
    next_attempt_at: datetime | None = None
    delivered_at: datetime | None = None


class OutgoingMessage(Value):
    """A message that is due, with what is needed to send it. `secrets` sign it, the newest first."""

    id: UUID
    webhook_id: UUID
    url: str
    secrets: tuple[str, ...]
    body: str
    attempts: int
