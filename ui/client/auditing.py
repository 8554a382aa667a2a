"""The audit log over HTTP."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from ui.api_client import ApiClient
from ui.models import Answer

ACTIONS = (
    *("signed_up", "signed_in", "sign_in_failed", "signed_out", "password_changed", "password_taken", "key_made", "key_revoked"),
    *("member_invited", "invitation_withdrawn", "member_joined", "role_changed", "member_removed", "data_exported"),
    *("person_erased", "limits_changed", "retention_changed", "webhook_made", "webhook_changed", "webhook_secret_changed"),
    *("webhook_removed", "log_exported", "run_deleted", "report_shared", "share_ended", "collection_opened"),
    *("collection_deleted", "consent_changed"),
)
EXPORT_LIMIT = timedelta(seconds=60)


class Entry(Answer):
    """One line of the log: who did what to what, with which key and from where."""

    id: str
    at: datetime
    user_id: str | None = None
    email: str = ""
    key_id: str | None = None
    address: str = ""
    action: str
    subject: str = ""
    detail: Mapping[str, str] = {}


class AuditPage(Answer):
    """Entries, newest first; `next` brings the following page."""

    items: tuple[Entry, ...]
    next: str | None = None


def entries(api: ApiClient, wanted: Mapping[str, str], before: str | None) -> AuditPage:
    """A page of the log. `wanted` may name `action`, `user_id`, `since` and `until`."""
    query = dict(wanted) | ({"before": before} if before else {})
    return api._parse(AuditPage, api._send("GET", "/v1/audit", query=query))


def table(api: ApiClient, wanted: Mapping[str, str]) -> bytes:
    """All wanted entries as CSV."""
    return api._send("GET", "/v1/audit/export", query=wanted, timeout=EXPORT_LIMIT).content
