"""Messages about changes, and the outcome of their sending."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from app.domain.value import Value


class MailState(StrEnum):
    """The state of a message. A `waiting` one is tried again; `refused` and `unsubscribed` are final."""

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
    state: MailState
    attempts: int = 0
    detail: str = ""
    made_at: datetime
    sent_at: datetime | None = None
