"""What travels between the workflow of a living report and its activities."""

from datetime import datetime
from uuid import UUID

from app.domain.contract import ResearchInput
from app.domain.value import Value

BEGIN_ACTIVITY = "living_begin"
ENDED_ACTIVITY = "living_ended"
TELL_ACTIVITY = "living_tell"
FAIL_ACTIVITY = "living_fail"
DELIVER_ACTIVITY = "living_deliver"


class ScheduleAsking(Value):
    """One asking of a schedule, identified by the time it was due."""

    schedule_id: UUID
    due_at: datetime


class BegunAsking(Value):
    """The run that an asking needs; `start` is None when nothing has changed or there is nothing to ask."""

    start: ResearchInput | None = None


class FailedAsking(Value):
    """An asking that failed for good, and why."""

    asking: ScheduleAsking
    detail: str


class MessageDelivery(Value):
    """A message to send, by its id."""

    id: UUID


class DeliveryList(Value):
    """The messages to send."""

    deliveries: tuple[MessageDelivery, ...] = ()
