"""Schedules: questions that are asked again at set times."""

from datetime import datetime

from rubrica_client.models import FiringPage, MailDeliveryPage, NewSchedule, Schedule, ScheduleChange, SchedulePage
from rubrica_client.request import Request


def list_(limit: int | None = None, before: str | None = None) -> Request[SchedulePage]:
    """List the schedules, newest first."""
    return Request("GET", ("v1", "schedules"), SchedulePage, query={"limit": limit, "before": before})


def get(schedule_id: str) -> Request[Schedule]:
    """Return one schedule."""
    return Request("GET", ("v1", "schedules", schedule_id), Schedule)


def create(new: NewSchedule) -> Request[Schedule]:
    """Schedule a question, or that of a finished run, to be asked again at set times."""
    return Request("POST", ("v1", "schedules"), Schedule, body=new).with_key()


def change(schedule_id: str, changed: ScheduleChange) -> Request[Schedule]:
    """Change the fields that are set in `changed`."""
    return Request("PATCH", ("v1", "schedules", schedule_id), Schedule, body=changed)


def trigger(schedule_id: str) -> Request[Schedule]:
    """Ask the question once, now."""
    return Request("POST", ("v1", "schedules", schedule_id, "trigger"), Schedule).with_key()


def delete(schedule_id: str) -> Request[None]:
    """Delete a schedule; its runs stay."""
    return Request("DELETE", ("v1", "schedules", schedule_id), type(None))


def changes(schedule_id: str, limit: int | None = None, before: datetime | None = None) -> Request[FiringPage]:
    """List what changed each time, latest first."""
    return Request("GET", ("v1", "schedules", schedule_id, "changes"), FiringPage, query={"limit": limit, "before": before})


def deliveries(schedule_id: str, limit: int | None = None, before: str | None = None) -> Request[MailDeliveryPage]:
    """List the mail about changes, newest first."""
    return Request(
        "GET", ("v1", "schedules", schedule_id, "deliveries"), MailDeliveryPage, query={"limit": limit, "before": before}
    )
