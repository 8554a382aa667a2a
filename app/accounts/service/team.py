"""Change the people of an organisation: their roles, and invitations."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID, uuid4

from app.accounts.nouns.access import Principal, Role
from app.accounts.nouns.team import Invitation, Member
from app.accounts.nouns.token import digest_token, new_token
from app.accounts.service.policy import AccountPolicy
from app.accounts.storage import team
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.tenancy import TenantDatabase
from app.domain.errors import Conflict, Forbidden, NotFound

LAST_OWNER = "an organisation needs an owner: make somebody else one first"
NO_MEMBER = "there is no such member in this organisation"


class IssuedInvitation(NamedTuple):
    """A new invitation and its token, which is shown once."""

    invitation: Invitation
    token: str


class Team:
    """The use cases around members. Nobody gives, changes or takes a role above their own.

    Raises:
        NotFound: no such member or invitation in this organisation.
        Forbidden: the role is above the caller's.
        Unavailable: the database does not answer.
    """

    def __init__(self, tenants: TenantDatabase, policy: AccountPolicy) -> None:
        self._tenants = tenants
        self._policy = policy

    async def list_members(self, limit: int, before: UUID | None) -> Sequence[Member]:
        """Return up to `limit` people of the organisation, newest first, who joined before the one named."""
        return await team.list_members(self._tenants, limit, before)

    async def set_role(self, principal: Principal, user: UUID, role: Role) -> None:
        """Change a member's role. A lower role takes back the invitations they made: one could be above their new role.

        Raises:
            Conflict: no owner would be left.
        """
        async with self._tenants.acquire() as connection:
            owners = await team.list_owners(connection)
            present = await team.role_of(connection, user)
            if present is None:
                raise NotFound(NO_MEMBER)
            _check_roles(principal, present, role)
            if owners == {user} and role is not Role.OWNER:
                raise Conflict(LAST_OWNER)
            if not role.reaches(present):
                await team.withdraw_by(connection, user)
            await team.set_role(connection, user, role)
            await audit.record(connection, Action.ROLE_CHANGED, user, {"from": present, "to": role})

    async def remove(self, principal: Principal, user: UUID) -> None:
        """Remove a member; their keys, sessions, open invitations and consent to training end.

        What they made stays the organisation's.

        Raises:
            Conflict: no owner would be left.
        """
        async with self._tenants.acquire() as connection:
            owners = await team.list_owners(connection)
            present = await team.role_of(connection, user)
            if present is None:
                raise NotFound(NO_MEMBER)
            _check_roles(principal, present)
            if owners == {user}:
                raise Conflict(LAST_OWNER)
            await team.withdraw_by(connection, user)
            await team.remove(connection, user)
            await audit.record(connection, Action.MEMBER_REMOVED, user, {"role": present})

    async def list_invitations(self) -> Sequence[Invitation]:
        """List the invitations that can still be accepted."""
        return await team.list_invitations(self._tenants)

    async def invite(self, principal: Principal, email: str, role: Role) -> IssuedInvitation:
        """Invite a person. An earlier invitation of the same address ends.

        Raises:
            Conflict: they are a member.
        """
        _check_roles(principal, role)
        token = new_token()
        async with self._tenants.acquire() as connection:
            if await team.is_member(connection, email):
                raise Conflict(f"{email} is a member already")
            await team.withdraw_for(connection, email)
            digest, valid = digest_token(token), self._policy.invitation_valid
            made = await team.invite(connection, uuid4(), email, role, digest, principal.user_id, valid)
            await audit.record(connection, Action.MEMBER_INVITED, made.id, {"role": role})
        return IssuedInvitation(made, token)

    async def withdraw(self, invitation: UUID) -> None:
        """Take an invitation back."""
        async with self._tenants.acquire() as connection:
            if await team.withdraw(connection, invitation) is None:
                raise NotFound("there is no such invitation; it may have been accepted")
            await audit.record(connection, Action.INVITATION_WITHDRAWN, invitation)


def _check_roles(principal: Principal, *roles: Role) -> None:
    if not all(principal.role.reaches(role) for role in roles):
        raise Forbidden(f"as {principal.role} you cannot give or take a role above your own")
