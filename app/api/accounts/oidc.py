"""Signing in with an identity provider: two addresses for the browser."""

from datetime import timedelta
from typing import Annotated

from litestar import Controller, Response, get
from litestar.params import QueryParameter

from app.api.accounts.cookies import cookie, session_cookie
from app.api.authentication import PUBLIC
from app.api.deps import AccountsService, ApiRequest, address_of
from app.api.openapi import problem_responses
from app.domain.errors import Unauthenticated

COOKIE = "rubrica_oidc"
Given = Annotated[str, QueryParameter(max_length=4_000)]
# `state` alone is a word of Litestar's.
State = Annotated[str, QueryParameter(name="state", max_length=4_000)]


class OidcController(Controller):
    """There and back."""

    path = "/v1/oidc"
    tags = ("accounts",)
    opt = PUBLIC
    security = [{}]  # noqa: RUF012  as Litestar declares it

    @get("/start", status_code=302, responses=problem_responses(404))
    async def start(self, accounts: AccountsService, request: ApiRequest) -> Response[None]:
        """Go to the identity provider of this deployment."""
        departure = await accounts.oidc.begin(address_of(request))
        kept = cookie(COOKIE, departure.state, accounts.policy, accounts.policy.flow_valid)
        return Response(None, status_code=302, headers={"Location": departure.url}, cookies=[kept])

    @get("/callback", status_code=302, responses=problem_responses(400, 404, 409))
    async def callback(
        self, accounts: AccountsService, request: ApiRequest, brought: State = "", code: Given = "", error: Given = ""
    ) -> Response[None]:
        """Come back from it, and go to the page, signed in."""
        if error or not code:
            raise Unauthenticated("the identity provider did not let you in; try again")
        signed = await accounts.oidc.finish(brought, request.cookies.get(COOKIE, ""), code, address_of(request))
        policy = accounts.policy
        cookies = [session_cookie(signed.token, policy), cookie(COOKIE, "", policy, timedelta(0))]
        return Response(None, status_code=302, headers={"Location": policy.page_url or "/v1/me"}, cookies=cookies)
