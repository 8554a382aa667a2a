"""Webhooks: where an organisation wants to be told what happens to its runs."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from app.domain.value import Value


class WebhookEvent(StrEnum):
    """What may be told. Those of a run are its changes of status; the runs of a fleet are told of once, when it has ended."""

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
    """Where a delivery stands."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Webhook(Value):
    """An endpoint. Without `events` it is told everything."""

    id: UUID
    url: str
    description: str = ""
    events: tuple[WebhookEvent, ...] = ()
    enabled: bool = True
    disabled_reason: str = Field(default="", description="Why it was turned off, where we did it.")
    failing_since: datetime | None = Field(default=None, description="Since when no delivery has succeeded; null while they do.")
    created_at: datetime


class Delivery(Value):
    """One message to one endpoint, and how its last attempt went. Its id is the message's `webhook-id`."""

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


class Outgoing(Value):
    """A message that is due, with what it takes to send it. `secrets` are those that sign it: the newest first."""

    id: UUID
    webhook_id: UUID
    url: str
    secrets: tuple[str, ...]
    body: str
    attempts: int
