"""What goes in and out of accounts."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from app.accounts.nouns.access import Role, Scope
from app.accounts.nouns.team import LONGEST_PASSWORD, DisplayName, Email, Invitation, KeyInfo, Member, Password
from app.audit.storage import AuditEntry
from app.domain.limits import Consumption, KeyQuota, Quota
from app.retention.nouns import Retention


def _to_come(moment: datetime) -> datetime:
    if moment <= datetime.now(UTC):
        raise ValueError("this moment is past")
    return moment


# Bodies may end up in a log; their passwords do not.
OwnPassword = Annotated[Password, Field(repr=False)]
GivenPassword = Annotated[str, Field(min_length=1, max_length=LONGEST_PASSWORD, repr=False)]


class Given(BaseModel):
    """What a client sends: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class NewAccount(Given):
    """A new organisation and its owner. Who has an account gives its password."""

    organisation: DisplayName
    email: Email
    name: DisplayName
    password: OwnPassword


class Credentials(Given):
    """Signing in; to the organisation named, else to the one joined first."""

    email: Email
    password: GivenPassword
    organisation: UUID | None = None


class NewPassword(Given):
    """A change of one's own password."""

    current: str = Field(
        default="",
        max_length=LONGEST_PASSWORD,
        repr=False,
        description="Left out by who has none yet: within ten minutes of signing in with the identity provider.",
    )
    new: OwnPassword


class Confirmation(Given):
    """One's own password, once more."""

    password: GivenPassword


class NewKey(Given):
    """A key to be made. It can do no more than whoever makes it."""

    name: DisplayName
    scopes: tuple[Scope, ...] = Field(min_length=1, max_length=len(Scope))
    expires_at: Annotated[AwareDatetime, AfterValidator(_to_come)] | None = Field(default=None, description="Null: never.")


class MadeKey(BaseModel):
    """A new key. It is shown here and never again."""

    key: str
    info: KeyInfo


class NewRole(Given):
    """A member's role to be."""

    role: Role


class NewInvitation(Given):
    """Whom to invite as what."""

    email: Email
    role: Role = Role.MEMBER


class MadeInvitation(BaseModel):
    """A new invitation. Its token is shown here and never again: hand it to the person, where it was not mailed to them."""

    token: str
    invitation: Invitation
    mailed: bool = Field(default=False, description="Whether a mail server took a mail with a link to them.")
    mail_problem: str = Field(default="", description="Why it was not mailed.")


class Acceptance(Given):
    """Joining by an invitation: with a new account, or with the password of the one that the invited address has."""

    token: Annotated[str, Field(min_length=1, max_length=100, repr=False)]
    name: DisplayName
    password: OwnPassword


class MemberPage(BaseModel):
    """Some of the members, newest first. `next` is the value of `before` that brings the following page; null on the last."""

    items: list[Member]
    next: UUID | None = None


class InvitationPage(BaseModel):
    """The invitations that can still be accepted, newest first."""

    items: list[Invitation]
    next: None = None


class KeyPage(BaseModel):
    """The organisation's keys, newest first."""

    items: list[KeyInfo]
    next: None = None


class NewQuota(Quota):
    """Limits to be. With `key_id`, those of a key."""

    key_id: UUID | None = None


class NewRetention(Retention):
    """How long things are to be kept. What is left out is kept for good."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"runs_days": 365, "tool_results_days": 30}]})


class Quotas(BaseModel):
    """The limits of the organisation, within what the deployment allows, and of its keys; and what is used."""

    organisation: Quota
    keys: list[KeyQuota]
    used: Consumption


class AuditPage(BaseModel):
    """Some of the audit log, newest first."""

    items: list[AuditEntry]
    next: UUID | None = Field(description="The `before` of the following page.")
