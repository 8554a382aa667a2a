"""Sign in with an identity provider: two addresses for the browser.

A browser whose sign-in fails is sent to the page's form, which says why in its reader's language. Programs, and browsers of a
deployment without a page, get the problem.
"""

import logging
from collections.abc import Awaitable
from datetime import timedelta
from typing import Annotated
from urllib.parse import quote, unquote, urlencode, urlsplit

from litestar import Controller, Response, get
from litestar.datastructures import Cookie
from litestar.params import QueryParameter

from app.accounts.api.cookies import make_cookie, make_session_cookie
from app.accounts.service.accounts import Accounts
from app.accounts.service.policy import AccountPolicy
from app.accounts.service.provider import SignInFailure, SignInRefused
from app.domain.errors import Forbidden, RubricaError, TooManyRequests, Unavailable
from app.http.authentication import PUBLIC
from app.http.dependencies import AccountsService, ApiRequest, address_of
from app.http.openapi.responses import problem_responses

STATE_COOKIE = "rubrica_oidc"
WANTED_COOKIE = "rubrica_wanted"
AS_IN_ADDRESSES = "/?&=%:+,;@!$'()*~-._"
LONGEST_WANTED = 1_000  # of characters, some of which take nine in a cookie
FAILURE_WORDS = {Forbidden: "closed", TooManyRequests: "often", Unavailable: "away"}
log = logging.getLogger(__name__)
QueryText = Annotated[str, QueryParameter(max_length=4_000)]
# Litestar uses `state` as a name of its own.
State = Annotated[str, QueryParameter(name="state", max_length=4_000)]


class OidcController(Controller):
    """Routes to the identity provider and back."""

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
        """Go to the identity provider of this deployment. After signing in, the browser is sent to `back`, a path of the page."""
        return await _answer_or_redirect(request, accounts.policy, back, self._depart(accounts, request, back))

    async def _depart(self, accounts: Accounts, request: ApiRequest, back: str) -> Response[None]:
        departure, policy = await accounts.oidc.begin(address_of(request)), accounts.policy
        kept = [(STATE_COOKIE, departure.state), (WANTED_COOKIE, quote(back, safe=""))]
        cookies = [make_cookie(name, value, policy, policy.flow_valid) for name, value in kept]
        return Response(None, status_code=302, headers={"Location": departure.url}, cookies=cookies)

    @get("/callback", status_code=302, responses=problem_responses(400, 404, 409))
    async def callback(
        self, accounts: AccountsService, request: ApiRequest, brought: State = "", code: QueryText = "", error: QueryText = ""
    ) -> Response[None]:
        """Come back from the identity provider, signed in, and go to the page."""
        wanted = unquote(request.cookies.get(WANTED_COOKIE, ""))
        let_in = self._admit(accounts, request, brought, "" if error else code, wanted)
        return await _answer_or_redirect(request, accounts.policy, wanted, let_in)

    async def _admit(self, accounts: Accounts, request: ApiRequest, brought: str, code: str, wanted: str) -> Response[None]:
        if not code:
            raise SignInRefused(SignInFailure.DENIED, "the identity provider did not let you in; try again")
        signed = await accounts.oidc.finish(brought, request.cookies.get(STATE_COOKIE, ""), code, address_of(request))
        policy = accounts.policy
        headers = {"Location": landing_address_of(policy.page_url, wanted)}
        return Response(
            None, status_code=302, headers=headers, cookies=[make_session_cookie(signed.token, policy), *_clear_cookies(policy)]
        )


async def _answer_or_redirect(
    request: ApiRequest, policy: AccountPolicy, wanted: str, work: Awaitable[Response[None]]
) -> Response[None]:
    """Return the answer, or a redirect to the page's form with the reason why there is none."""
    try:
        return await work
    except RubricaError as error:
        if not policy.page_url or "text/html" not in request.headers.get("accept", ""):
            raise
        log.info("signing in with the identity provider did not work: %s", error)
        told = urlencode({"form": "enter", "refused": f"provider_{reason_of(error)}"} | ({"back": wanted} if wanted else {}))
        there = f"{policy.page_url.rstrip('/')}/sign-in?{told}"
        return Response(None, status_code=302, headers={"Location": there}, cookies=_clear_cookies(policy))


def reason_of(error: RubricaError) -> str:
    """Return the short name of the failure, for which the page has a sentence."""
    if isinstance(error, SignInRefused):
        return error.reason
    return next((word for kind, word in FAILURE_WORDS.items() if isinstance(error, kind)), "failed")


def _clear_cookies(policy: AccountPolicy) -> list[Cookie]:
    """Return cookies that remove the two that the browser kept during the sign-in."""
    return [make_cookie(name, "", policy, timedelta(0)) for name in (STATE_COOKIE, WANTED_COOKIE)]


def landing_address_of(page_url: str, wanted: str) -> str:
    """Return where a signed-in browser goes: the wanted path if it is the page's, else the page; without a page, `/v1/me`."""
    if not page_url:
        return "/v1/me"
    page = urlsplit(page_url)
    path = wanted.partition("?")[0]
    local = path.startswith("/") and not path.startswith("//") and (path + "/").startswith(page.path.rstrip("/") + "/")
    if not local or not wanted.isprintable() or "\\" in wanted or "/../" in path + "/":
        return page_url
    return f"{page.scheme}://{page.netloc}{quote(wanted, safe=AS_IN_ADDRESSES)}"
