"""Organisations, the people in them, their keys and invitations."""

import unicodedata
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from app.accounts.nouns.access import AccessScope, Role
from app.domain.value import Value

SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 200
# Characters that separate or wrap addresses where a mail names its recipients (RFC 5322): one address is one person.
SEPARATORS = frozenset(',;:<>()[]"\\')


def _check_email(text: str) -> str:
    """Return the address in lower case: two spellings of one address are one person. Nothing else in it is changed."""
    name, at, host = text.strip().lower().rpartition("@")
    odd = any(not c.isprintable() or c.isspace() or c in SEPARATORS for c in text.strip())
    if not (name and at and host) or "@" in name or odd:
        raise ValueError("expected an e-mail address such as ada@example.org")
    return f"{name}@{host}"


def _check_readable(text: str) -> str:
    if any(unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in text):
        raise ValueError("a name has no control or invisible characters")
    return text


Email = Annotated[str, Field(min_length=3, max_length=254), AfterValidator(_check_email)]
DisplayName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100), AfterValidator(_check_readable)
]
Password = Annotated[str, StringConstraints(min_length=SHORTEST_PASSWORD, max_length=LONGEST_PASSWORD)]


class Organisation(Value):
    """An organisation, with the role of the person who asks."""

    id: UUID
    name: str
    role: Role


class Me(Value):
    """The person who asks, with what they may do in this organisation, with this key or session."""

    user_id: UUID
    email: str
    name: str
    organisation: Organisation
    organisations: tuple[Organisation, ...] = Field(description="All organisations that they belong to.")
    scopes: tuple[AccessScope, ...]
    key_id: UUID | None = Field(default=None, description="The API key that was used, if it was one.")
    verified: bool = Field(default=False, description="Whether the e-mail address is known to be theirs.")
    has_password: bool = Field(default=True, description="False for a person who only signs in with an identity provider.")


class Member(Value):
    """A person in the organisation."""

    user_id: UUID
    email: str
    name: str
    role: Role
    joined_at: datetime
    verified: bool = Field(default=False, description="Whether the e-mail address is known to be theirs.")


class KeyInfo(Value):
    """The stored details of an API key, without its secret."""

    id: UUID
    name: str
    user_id: UUID
    scopes: tuple[AccessScope, ...]
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = Field(default=None, description="To the minute.")
    made_by: UUID | None = Field(default=None, description="The key that made it, if one did: it ends with that key.")


class Invitation(Value):
    """An invitation that nobody has accepted yet."""

    id: UUID
    email: str
    role: Role
    invited_by: UUID | None
    created_at: datetime
    expires_at: datetime
