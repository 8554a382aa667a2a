"""Links by which anybody may read one version of a report."""

import secrets
from datetime import datetime
from uuid import UUID

from app.domain.value import Value

TOKEN_BYTES = 24


class Share(Value):
    """A link without its token, which only its maker knows."""

    id: UUID
    run_id: UUID
    version: int
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None
    last_read_at: datetime | None = None


class SharedReport(Value):
    """The version's page and Markdown as a link shows them, and when the link ends."""

    title: str
    html: str
    markdown: str
    expires_at: datetime


def new_link_token() -> str:
    """Return 192 random bits, safe in a URL."""
    return secrets.token_urlsafe(TOKEN_BYTES)
