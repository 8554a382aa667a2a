"""An organisation's usage and limits, how long data is kept, and the audit log."""

from datetime import date

from rubrica_client.models import AuditPage, NewQuota, NewRetention, Quotas, Retention, UsageReport
from rubrica_client.request import EXPORT, Request

Day = date | str | None


def usage(since: date | None = None, until: date | None = None) -> Request[UsageReport]:
    """Return what the runs created in these days used; without days, in this month."""
    return Request("GET", ("v1", "usage"), UsageReport, query={"since": since, "until": until})


def quotas() -> Request[Quotas]:
    """Return the limits and what is used of them."""
    return Request("GET", ("v1", "quotas"), Quotas)


def set_quota(quota: NewQuota) -> Request[Quotas]:
    """Set all limits of the organisation, or of a key."""
    return Request("PUT", ("v1", "quotas"), Quotas, body=quota)


def retention() -> Request[Retention]:
    """Return after how many days each kind of data is deleted."""
    return Request("GET", ("v1", "retention"), Retention)


def set_retention(retention: NewRetention) -> Request[Retention]:
    """Set after how many days each kind of data is deleted."""
    return Request("PUT", ("v1", "retention"), Retention, body=retention)


def audit(
    action: str | None = None,
    user_id: str | None = None,
    since: Day = None,
    until: Day = None,
    limit: int | None = None,
    before: str | None = None,
) -> Request[AuditPage]:
    """List who did what, newest first."""
    query = _filter_query(action, user_id, since, until) | {"limit": limit, "before": before}
    return Request("GET", ("v1", "audit"), AuditPage, query=query)


def audit_table(action: str | None = None, user_id: str | None = None, since: Day = None, until: Day = None) -> Request[bytes]:
    """Export the audit log as CSV for a spreadsheet."""
    return Request("GET", ("v1", "audit", "export"), bytes, query=_filter_query(action, user_id, since, until), timeout=EXPORT)


def _filter_query(action: str | None, user_id: str | None, since: Day, until: Day) -> dict[str, str | int | date | None]:
    return {"action": action, "user_id": user_id, "since": since, "until": until}
