"""The caller, the team, and its API keys."""

from rubrica_client.models import (
    AccessPage,
    InvitationPage,
    KeyPage,
    MadeInvitation,
    MadeKey,
    Me,
    MemberPage,
    NewInvitation,
    NewKey,
    NewPassword,
    NewRole,
    Role,
)
from rubrica_client.request import MAIL, Request


def me() -> Request[Me]:
    """Return who asks, in which organisation, and with which scopes."""
    return Request("GET", ("v1", "me"), Me)


def ask_to_verify() -> Request[None]:
    """Have a link mailed to the caller, which confirms their address."""
    return Request("POST", ("v1", "me", "verification"), type(None), timeout=MAIL)


def access() -> Request[AccessPage]:
    """List what the caller's account has open: sessions, keys, identities, invitations, and webhooks that they set up."""
    return Request("GET", ("v1", "me", "access"), AccessPage)


def change_password(change: NewPassword) -> Request[Me]:
    """Change the caller's password. All that `access` lists ends, but webhooks, the key that is used, and the ids in `keep`."""
    return Request("POST", ("v1", "me", "password"), Me, body=change)


def export() -> Request[bytes]:
    """Export all that is stored about the caller, as JSON."""
    return Request("GET", ("v1", "me", "export"), bytes)


def members(limit: int | None = None, before: str | None = None) -> Request[MemberPage]:
    """List the members, newest first."""
    return Request("GET", ("v1", "members"), MemberPage, query={"limit": limit, "before": before})


def set_role(user_id: str, role: str) -> Request[None]:
    """Change the role of a member."""
    return Request("PATCH", ("v1", "members", user_id), type(None), body=NewRole(role=Role(role)))


def remove_member(user_id: str) -> Request[None]:
    """Remove a member; their keys and sessions end."""
    return Request("DELETE", ("v1", "members", user_id), type(None))


def invitations() -> Request[InvitationPage]:
    """List the invitations that can still be accepted."""
    return Request("GET", ("v1", "invitations"), InvitationPage)


def invite(email: str, role: str) -> Request[MadeInvitation]:
    """Invite somebody; the token is in this answer only."""
    return Request("POST", ("v1", "invitations"), MadeInvitation, body=NewInvitation(email=email, role=Role(role)), timeout=MAIL)


def withdraw(invitation_id: str) -> Request[None]:
    """Take an invitation back."""
    return Request("DELETE", ("v1", "invitations", invitation_id), type(None))


def keys() -> Request[KeyPage]:
    """List the API keys of the organisation, newest first."""
    return Request("GET", ("v1", "keys"), KeyPage)


def make_key(new: NewKey) -> Request[MadeKey]:
    """Make a key, which is in this answer only."""
    return Request("POST", ("v1", "keys"), MadeKey, body=new)


def revoke_key(key_id: str) -> Request[None]:
    """End a key at once."""
    return Request("DELETE", ("v1", "keys", key_id), type(None))
