"""Routes of the organisation's members, and of invitations to it."""

from typing import Annotated
from uuid import UUID

from litestar import Controller, delete, get, patch, post
from litestar.params import FromPath, JSONBody, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.accounts.schemas import InvitationPage, MadeInvitation, MemberPage, NewInvitation, NewRole
from app.http.authentication import needs
from app.http.dependencies import AccountsService, CurrentPrincipal
from app.http.openapi.responses import problem_responses
from app.idempotency.api import SHOWN_ONCE

PAGE_SIZE = 50


class MembersController(Controller):
    """The people of the organisation."""

    path = "/v1/members"
    tags = ("team",)
    opt = needs(AccessScope.TEAM_WRITE)

    @get(opt=needs(AccessScope.TEAM_READ), responses=problem_responses(400))
    async def list_members(
        self,
        accounts: AccountsService,
        limit: Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")] = PAGE_SIZE,
        before: Annotated[UUID | None, QueryParameter(description="Only people who joined before this one (`user_id`).")] = None,
    ) -> MemberPage:
        """List the members, newest first."""
        found = list(await accounts.team.list_members(limit + 1, before))
        return MemberPage(items=found[:limit], next=found[limit - 1].user_id if len(found) > limit else None)

    @patch("/{user:uuid}", status_code=204, responses=problem_responses(400, 404, 409))
    async def set_role(
        self, user: FromPath[UUID], data: JSONBody[NewRole], accounts: AccountsService, principal: CurrentPrincipal
    ) -> None:
        """Change a member's role, up to your own; a lower role ends the invitations they made. The last owner stays an owner."""
        await accounts.team.set_role(principal, user, data.role)

    @delete("/{user:uuid}", responses=problem_responses(404, 409))
    async def remove(self, user: FromPath[UUID], accounts: AccountsService, principal: CurrentPrincipal) -> None:
        """Remove a member. Their keys, sessions and open invitations end; what they made stays the organisation's."""
        await accounts.team.remove(principal, user)


class InvitationsController(Controller):
    """An invitation is for one person and one use, within seven days."""

    path = "/v1/invitations"
    tags = ("team",)
    opt = needs(AccessScope.TEAM_WRITE)

    @get(responses=problem_responses())
    async def list_invitations(self, accounts: AccountsService) -> InvitationPage:
        """List the invitations that can still be accepted."""
        return InvitationPage(items=list(await accounts.team.list_invitations()))

    @post(opt=needs(AccessScope.TEAM_WRITE) | SHOWN_ONCE, responses=problem_responses(400, 409))
    async def invite(
        self, data: JSONBody[NewInvitation], accounts: AccountsService, principal: CurrentPrincipal
    ) -> MadeInvitation:
        """Invite a person, up to your own role: by mail where this installation sends mail, else hand the token over."""
        await accounts.addresses.require_verified(principal.user_id)
        await accounts.invitation_mail.take_turn(principal.organisation_id, data.email)
        made = await accounts.team.invite(principal, data.email, data.role)
        here = (await accounts.get_me(principal.organisation_id, principal.user_id)).organisation
        posted = await accounts.invitation_mail.post(here.name, made.invitation, made.token)
        token = "" if posted.mailed else made.token
        return MadeInvitation(token=token, invitation=made.invitation, mailed=posted.mailed, mail_problem=posted.why)

    @delete("/{invitation:uuid}", responses=problem_responses(404))
    async def withdraw(self, invitation: FromPath[UUID], accounts: AccountsService) -> None:
        """Take an invitation back."""
        await accounts.team.withdraw(invitation)
