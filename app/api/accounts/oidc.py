"""Signing in with an identity provider: two addresses for the browser."""

from datetime import timedelta
from typing import Annotated
from urllib.parse import quote, unquote, urlsplit

from litestar import Controller, Response, get
from litestar.params import QueryParameter

from app.api.accounts.cookies import cookie, session_cookie
from app.api.authentication import PUBLIC
from app.api.deps import AccountsService, ApiRequest, address_of
from app.api.openapi import problem_responses
from app.domain.errors import Unauthenticated

COOKIE = "rubrica_oidc"
WANTED = "rubrica_wanted"
AS_IN_ADDRESSES = "/?&=%:+,;@!$'()*~-._"
LONGEST_WANTED = 1_000  # of characters, some of which take nine in a cookie
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
    async def start(
        self,
        accounts: AccountsService,
        request: ApiRequest,
        back: Annotated[str, QueryParameter(max_length=LONGEST_WANTED, description="The path of the page that was wanted.")] = "",
    ) -> Response[None]:
        """Go to the identity provider of this deployment. After signing in one is led to `back`, a path at the page."""
        departure, policy = await accounts.oidc.begin(address_of(request)), accounts.policy
        kept = [(COOKIE, departure.state), (WANTED, quote(back, safe=""))]
        cookies = [cookie(name, value, policy, policy.flow_valid) for name, value in kept]
        return Response(None, status_code=302, headers={"Location": departure.url}, cookies=cookies)

    @get("/callback", status_code=302, responses=problem_responses(400, 404, 409))
    async def callback(
        self, accounts: AccountsService, request: ApiRequest, brought: State = "", code: Given = "", error: Given = ""
    ) -> Response[None]:
        """Come back from it, and go to the page, signed in."""
        if error or not code:
            raise Unauthenticated("the identity provider did not let you in; try again")
        signed = await accounts.oidc.finish(brought, request.cookies.get(COOKIE, ""), code, address_of(request))
        policy = accounts.policy
        over = [cookie(name, "", policy, timedelta(0)) for name in (COOKIE, WANTED)]
        there = led_to(policy.page_url, unquote(request.cookies.get(WANTED, "")))
        return Response(None, status_code=302, headers={"Location": there}, cookies=[session_cookie(signed.token, policy), *over])


def led_to(page_url: str, wanted: str) -> str:
    """Where one goes once signed in: the wanted path where it is one of the page, else the page; without a page, who one is."""
    if not page_url:
        return "/v1/me"
    page = urlsplit(page_url)
    path = wanted.partition("?")[0]
    local = path.startswith("/") and not path.startswith("//") and (path + "/").startswith(page.path.rstrip("/") + "/")
    if not local or not wanted.isprintable() or "\\" in wanted or "/../" in path + "/":
        return page_url
    return f"{page.scheme}://{page.netloc}{quote(wanted, safe=AS_IN_ADDRESSES)}"
