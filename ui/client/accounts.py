"""Who one is, the team and its API keys over HTTP."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from ui.api_client import ApiClient
from ui.models import Answer

MAIL_LIMIT = timedelta(seconds=20)  # a mail server may be asked meanwhile


class Organisation(Answer):
    """An organisation and one's role in it."""

    id: str
    name: str
    role: str = ""


class Me(Answer):
    """Who asks, in which organisation, and what they may do."""

    user_id: str
    email: str = ""
    name: str = ""
    organisation: Organisation
    scopes: tuple[str, ...] = ()
    has_password: bool = True

    def may(self, scope: str) -> bool:
        """Whether something named so may be done."""
        return scope in self.scopes


class Member(Answer):
    """A person of the organisation."""

    user_id: str
    email: str
    name: str
    role: str
    joined_at: datetime


class Invitation(Answer):
    """An invitation that can still be accepted."""

    id: str
    email: str
    role: str
    expires_at: datetime


class KeyInfo(Answer):
    """What is known of a key; the key itself is not kept."""

    id: str
    name: str
    scopes: tuple[str, ...] = ()
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None


class MadeKey(Answer):
    """A new key, told once."""

    key: str
    info: KeyInfo


class MadeInvitation(Answer):
    """A new invitation; its token is told once. `mail_problem` says why it did not go out by mail."""

    token: str
    invitation: Invitation
    mailed: bool = False
    mail_problem: str = ""


class Members(Answer):
    """Some of the members; `next` is the `before` of the following page."""

    items: tuple[Member, ...] = ()
    next: str | None = None


class Invitations(Answer):
    """The open invitations."""

    items: tuple[Invitation, ...] = ()


class Keys(Answer):
    """The organisation's keys."""

    items: tuple[KeyInfo, ...] = ()


def me(api: ApiClient) -> Me:
    """Who asks."""
    return api._parse(Me, api._send("GET", "/v1/me"))


def export(api: ApiClient) -> bytes:
    """All that is kept about whoever asks, as JSON."""
    return api._send("GET", "/v1/me/export").content


def members(api: ApiClient, before: str | None = None) -> Members:
    """The team, newest first."""
    return api._parse(Members, api._send("GET", "/v1/members", query={"before": before} if before else {}))


def set_role(api: ApiClient, user: str, role: str) -> None:
    """Change a member's role."""
    api._send("PATCH", f"/v1/members/{user}", body={"role": role})


def remove_member(api: ApiClient, user: str) -> None:
    """Remove a member; their keys and sessions end."""
    api._send("DELETE", f"/v1/members/{user}")


def invitations(api: ApiClient) -> tuple[Invitation, ...]:
    """Those that can still be accepted."""
    return api._parse(Invitations, api._send("GET", "/v1/invitations")).items


def invite(api: ApiClient, email: str, role: str) -> MadeInvitation:
    """Invite somebody."""
    return api._parse(
        MadeInvitation, api._send("POST", "/v1/invitations", body={"email": email, "role": role}, timeout=MAIL_LIMIT)
    )


def withdraw(api: ApiClient, invitation: str) -> None:
    """Take an invitation back."""
    api._send("DELETE", f"/v1/invitations/{invitation}")


def keys(api: ApiClient) -> tuple[KeyInfo, ...]:
    """The organisation's keys, newest first."""
    return api._parse(Keys, api._send("GET", "/v1/keys")).items


def make_key(api: ApiClient, name: str, scopes: Sequence[str], expires_at: datetime | None) -> MadeKey:
    """Make a key."""
    body = {"name": name, "scopes": list(scopes), "expires_at": expires_at.isoformat() if expires_at else None}
    return api._parse(MadeKey, api._send("POST", "/v1/keys", body=body))


def revoke_key(api: ApiClient, key: str) -> None:
    """End a key at once."""
    api._send("DELETE", f"/v1/keys/{key}")
