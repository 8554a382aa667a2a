"""Messages about what changed, and how their sending went."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from app.domain.value import Value


class DeliveryState(StrEnum):
    """`waiting` is tried again by itself; `refused` is final, as is what its reader has unsubscribed from."""

    WAITING = "waiting"
    SENT = "sent"
    REFUSED = "refused"
    UNSUBSCRIBED = "unsubscribed"


class MailDelivery(Value):
    """One message to one address."""

    id: UUID
    schedule_id: UUID
    due_at: datetime
    address: str
    state: DeliveryState
    attempts: int = 0
    detail: str = ""
    made_at: datetime
    sent_at: datetime | None = None
