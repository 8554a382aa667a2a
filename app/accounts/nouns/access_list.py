"""The list of what a person's account has open, which is shown when the password changes."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from app.domain.value import Value


class AccessKind(StrEnum):
    """What it is. A new password ends all but webhooks, which are their organisation's: look at them."""

    SESSION = "session"
    KEY = "key"
    IDENTITY = "identity"
    INVITATION = "invitation"
    WEBHOOK = "webhook"


class AccessItem(Value):
    """Something by which somebody acts as this person, comes back, or is told of things."""

    id: UUID
    kind: AccessKind
    organisation_id: UUID | None = Field(description="Null for an identity, which opens all of them.")
    organisation: str
    name: str = Field(
        description="Of a key its name, of an identity its provider, of an invitation the address, of a webhook the URL."
    )
    address: str = Field(description="Of a session, the network address that it began from.")
    created_at: datetime
    last_used_at: datetime | None = Field(description="To the minute.")
    expires_at: datetime | None
    current: bool = Field(description="Whether this request came by it.")
