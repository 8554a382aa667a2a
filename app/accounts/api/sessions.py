"""Routes to sign up, in and out, and to see and change your own account."""

from typing import Any

from litestar import Controller, Response, delete, get, post
from litestar.openapi import ResponseSpec
from litestar.params import JSONBody

from app.accounts.api.cookies import SESSION_COOKIE, make_expired_cookie, make_session_cookie
from app.accounts.nouns.access import AccessScope
from app.accounts.nouns.team import Me
from app.accounts.schemas import (
    Acceptance,
    AccessPage,
    Confirmation,
    Credentials,
    ForgottenPassword,
    GivenToken,
    NewAccount,
    NewPassword,
    PasswordByToken,
)
from app.accounts.service.accounts import Accounts
from app.accounts.service.sign_in import NewSession
from app.database.tenancy import get_tenant
from app.http.authentication import PUBLIC, needs
from app.http.dependencies import AccountsService, ApiRequest, CurrentPrincipal, address_of
from app.http.openapi.responses import problem_responses
from app.idempotency.api import SHOWN_ONCE

EXPORT = ResponseSpec(dict[str, Any], description="What is kept, by kind.", generate_examples=False)


class SessionsController(Controller):
    """A session is a cookie. Programs use API keys instead."""

    path = "/v1"
    tags = ("accounts",)

    @post("/sign-up", opt=PUBLIC, security=[{}], responses=problem_responses(400, 409))
    async def sign_up(self, data: JSONBody[NewAccount], accounts: AccountsService, request: ApiRequest) -> Response[Me]:
        """Make an organisation, become its owner, and sign in."""
        signed = await accounts.sign_in.sign_up(data.organisation, data.email, data.name, data.password, address_of(request))
        await accounts.addresses.greet(signed)
        return await answer_signed_in(accounts, signed, 201)

    @post("/session", opt=PUBLIC, security=[{}], status_code=200, responses=problem_responses(400))
    async def sign_in(self, data: JSONBody[Credentials], accounts: AccountsService, request: ApiRequest) -> Response[Me]:
        """Sign in with e-mail address and password."""
        sign_in = accounts.sign_in
        signed = await sign_in.enter_with_password(data.email, data.password, address_of(request), data.organisation)
        return await answer_signed_in(accounts, signed, 200)

    @delete("/session", opt=needs(AccessScope.ACCOUNT_READ), responses=problem_responses())
    async def sign_out(self, accounts: AccountsService, request: ApiRequest) -> Response[None]:
        """Sign out of this browser."""
        if token := request.cookies.get(SESSION_COOKIE):
            await accounts.sign_in.sign_out(token, get_tenant())
        return Response(None, status_code=204, cookies=[make_expired_cookie(accounts.policy)])

    @get("/me", opt=needs(AccessScope.ACCOUNT_READ), responses=problem_responses(404))
    async def me(self, accounts: AccountsService, principal: CurrentPrincipal, request: ApiRequest) -> Response[Me]:
        """Return who asks, in which organisation, and what they may do. An old session's cookie is exchanged for a new one."""
        token = request.cookies.get(SESSION_COOKIE)
        new = await accounts.sign_in.renew(token) if token and principal.key_id is None else None
        found = await accounts.get_me(principal.organisation_id, principal.user_id, principal.scopes, principal.key_id)
        return Response(found, cookies=[make_session_cookie(new, accounts.policy)] if new else [])

    @post("/me/password", opt=needs(AccessScope.ACCOUNT_WRITE) | SHOWN_ONCE, status_code=200, responses=problem_responses(400))
    async def change_password(self, data: JSONBody[NewPassword], accounts: AccountsService, request: ApiRequest) -> Response[Me]:
        """Change your own password. Sessions, keys, identities, open invitations and links to a new password end.

        What you name in `keep` does not end, nor does the key that you use; a session begins.
        """
        token = _read_token(request)
        signed = await accounts.sign_in.change_password(data.current, data.new, get_tenant(), token, data.keep)
        return await answer_signed_in(accounts, signed, 200)

    @get("/me/access", opt=needs(AccessScope.ACCOUNT_READ), responses=problem_responses())
    async def list_access(self, accounts: AccountsService, request: ApiRequest) -> AccessPage:
        """List your sessions, API keys, identities and open invitations, and webhooks that you made or changed."""
        return AccessPage(items=await accounts.sign_in.list_access(get_tenant(), _read_token(request)))

    @get(
        "/me/export",
        opt=needs(AccessScope.ACCOUNT_READ),
        media_type="application/json",
        responses={200: EXPORT, **problem_responses()},
    )
    async def export(self, accounts: AccountsService) -> Response[bytes]:
        """Return everything that is stored about the person who asks, in all of their organisations."""
        headers = {"Content-Disposition": 'attachment; filename="rubrica-export.json"'}
        return Response((await accounts.personal.export(get_tenant())).encode(), media_type="application/json", headers=headers)

    @post("/me/erasure", opt=needs(AccessScope.ACCOUNT_WRITE), status_code=204, responses=problem_responses(400, 409))
    async def erase(self, data: JSONBody[Confirmation], accounts: AccountsService) -> None:
        """Erase your account. Organisations in which you are alone go with all their data; your work in others stays theirs."""
        await accounts.personal.erase(data.password, get_tenant())

    @post("/me/verification", opt=needs(AccessScope.ACCOUNT_WRITE), status_code=202, responses=problem_responses(404, 409))
    async def ask_to_verify(self, accounts: AccountsService, principal: CurrentPrincipal) -> None:
        """Have a link mailed to your address, by which you confirm that it is yours."""
        await accounts.addresses.ask_to_verify(principal.user_id)

    @post("/verifications", opt=PUBLIC, security=[{}], status_code=204, responses=problem_responses(400))
    async def verify(self, data: JSONBody[GivenToken], accounts: AccountsService, request: ApiRequest) -> None:
        """Confirm an address by the token of a link that was mailed to it."""
        await accounts.addresses.verify(data.token, address_of(request))

    @post("/password-resets", opt=PUBLIC, security=[{}], status_code=202, responses=problem_responses(400, 404))
    async def ask_to_reset(self, data: JSONBody[ForgottenPassword], accounts: AccountsService, request: ApiRequest) -> None:
        """Have a link mailed by which a forgotten password is replaced. The answer is the same for an unknown address."""
        await accounts.addresses.ask_to_reset(data.email, address_of(request))

    @post("/password-resets/accept", opt=PUBLIC, security=[{}], status_code=200, responses=problem_responses(400))
    async def reset(self, data: JSONBody[PasswordByToken], accounts: AccountsService, request: ApiRequest) -> Response[Me]:
        """Set a new password by the token of a link that was mailed, and sign in. All that opened the account before ends."""
        signed = await accounts.addresses.reset(data.token, data.password, address_of(request))
        return await answer_signed_in(accounts, signed, 200)

    @post("/invitations/accept", opt=PUBLIC, security=[{}], status_code=200, responses=problem_responses(400, 409))
    async def accept(self, data: JSONBody[Acceptance], accounts: AccountsService, request: ApiRequest) -> Response[Me]:
        """Join an organisation by an invitation, and sign in."""
        signed = await accounts.sign_in.accept(data.token, data.name, data.password, address_of(request))
        return await answer_signed_in(accounts, signed, 200)


def _read_token(request: ApiRequest) -> str:
    """Return the token of the session that the request came by; none where it came by a key, which outranks the cookie."""
    return "" if get_tenant().key else request.cookies.get(SESSION_COOKIE, "")


async def answer_signed_in(accounts: Accounts, signed: NewSession, status: int) -> Response[Me]:
    """Return the person who has just signed in, with the session's cookie."""
    assert signed.tenant.user is not None
    me = await accounts.get_me(signed.tenant.organisation, signed.tenant.user)
    return Response(me, status_code=status, cookies=[make_session_cookie(signed.token, accounts.policy)])
