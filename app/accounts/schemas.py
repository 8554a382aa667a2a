"""Request and response bodies of accounts."""

from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field

from app.accounts.nouns.access import AccessScope, Role
from app.accounts.nouns.access_list import AccessItem
from app.accounts.nouns.team import LONGEST_PASSWORD, DisplayName, Email, Invitation, KeyInfo, Member, Password
from app.audit.storage import AuditEntry
from app.domain.limits import FASTEST_PACE, Consumption, KeyQuota, Quota
from app.retention.nouns import Retention


def _check_future(moment: datetime) -> datetime:
    if moment <= datetime.now(UTC):
        raise ValueError("this moment is past")
    return moment


# Bodies may end up in a log, but their passwords do not.
OwnPassword = Annotated[Password, Field(repr=False)]
GivenPassword = Annotated[str, Field(min_length=1, max_length=LONGEST_PASSWORD, repr=False)]


class StrictInput(BaseModel):
    """A request body that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid")


class NewAccount(StrictInput):
    """A new organisation and its owner. A person who has an account gives its password."""

    organisation: DisplayName
    email: Email
    name: DisplayName
    password: OwnPassword


class Credentials(StrictInput):
    """The e-mail address and password to sign in with; to the organisation named, else to the one joined first."""

    email: Email
    password: GivenPassword
    organisation: UUID | None = None


class NewPassword(StrictInput):
    """A change of the caller's own password."""

    current: str = Field(
        default="",
        max_length=LONGEST_PASSWORD,
        repr=False,
        description="Leave it out if you have none yet: within ten minutes of signing in with the identity provider.",
    )
    new: OwnPassword
    keep: tuple[UUID, ...] = Field(
        default=(),
        max_length=1_000,
        description="The ids of what is not to end, as the list of what is open has them. All else ends.",
    )


class Confirmation(StrictInput):
    """The caller's own password, as a confirmation."""

    password: GivenPassword


class NewKey(StrictInput):
    """A key to make. It can do no more than its maker."""

    name: DisplayName
    scopes: tuple[AccessScope, ...] = Field(min_length=1, max_length=len(AccessScope))
    expires_at: Annotated[AwareDatetime, AfterValidator(_check_future)] | None = Field(default=None, description="Null: never.")


class MadeKey(BaseModel):
    """A new key. Only this answer ever shows it."""

    key: str
    info: KeyInfo


class NewRole(StrictInput):
    """A new role for a member."""

    role: Role


class NewInvitation(StrictInput):
    """An invitation to make: the address and the role."""

    email: Email
    role: Role = Role.MEMBER


class MadeInvitation(BaseModel):
    """A new invitation. Only this answer ever shows its token, for you to hand over; if it was mailed, only the mail has it."""

    token: str = Field(description="Empty if it was mailed: then whoever accepts it has proved the address.")
    invitation: Invitation
    mailed: bool = Field(default=False, description="Whether a mail server took a mail with a link to them.")
    mail_problem: str = Field(default="", description="Why it was not mailed.")


class GivenToken(StrictInput):
    """The token of a link that was mailed."""

    token: Annotated[str, Field(min_length=1, max_length=100, repr=False)]


class ForgottenPassword(StrictInput):
    """The address of an account whose password is forgotten."""

    email: Email


class PasswordByToken(GivenToken):
    """The token of a link that was mailed, and a new password."""

    password: OwnPassword


class Acceptance(StrictInput):
    """The acceptance of an invitation: with a new account, or with the password of the invited address's account."""

    token: Annotated[str, Field(min_length=1, max_length=100, repr=False)]
    name: DisplayName
    password: OwnPassword


class MemberPage(BaseModel):
    """One page of members, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[Member]
    next: UUID | None = None


class InvitationPage(BaseModel):
    """The invitations that can still be accepted, newest first."""

    items: list[Invitation]
    next: None = None


class AccessPage(BaseModel):
    """What the caller's account has open, by kind, newest first."""

    items: list[AccessItem]
    next: None = None


class KeyPage(BaseModel):
    """The organisation's keys, newest first."""

    items: list[KeyInfo]
    next: None = None


class NewQuota(Quota):
    """New limits: of the organisation or, with `key_id`, of a key."""

    requests_per_minute: int | None = Field(default=None, ge=1, le=FASTEST_PACE)
    key_id: UUID | None = None


class NewRetention(Retention):
    """New retention times. A field that is left out means that the data is kept for good."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"runs_days": 365, "tool_results_days": 30}]})


class Quotas(BaseModel):
    """The limits of the organisation, within what the deployment allows, and of its keys; and the consumption."""

    organisation: Quota
    keys: list[KeyQuota]
    used: Consumption


class AuditPage(BaseModel):
    """One page of the audit log, newest first."""

    items: list[AuditEntry]
    next: UUID | None = Field(description="The `before` of the following page.")
