"""Signing in and out by plain forms that this server answers itself, so that no script can read the session's cookie.

The API makes the session and its cookie; this server hands the cookie on to the browser. Each page request carries the cookie to
the API, whose answer may bring a newer one.
"""

import json
import os
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import quote, unquote, urlencode, urlsplit

import httpx2
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rubrica_client import ApiError, AsyncClient
from rubrica_client.patience import NONE
from rubrica_client.request import Request as ApiRequest

SESSION_COOKIE = "rubrica_session"
TYPED_COOKIE = "rubrica_typed"
TYPED_COOKIE_AGE_S = 300
SECRET_FIELDS = ("password", "current", "new")  # an invitation may stay in the form: it works once
MOST_FIELDS = 1_000
ANSWER_LIMIT = timedelta(seconds=15)


class FormRoute(NamedTuple):
    """Where a form's fields go at the API: from their names in the form to their names in the request.

    No field may be called `name` or `id` here: such names hide properties of a form, so the page's sanitizer removes them.
    """

    path: str
    fields: Mapping[str, str]
    chosen: str = ""  # a field that comes once for each box that was ticked
    page: str = "/sign-in"  # where the form is
    after: str = ""  # the page after success; empty: the page that was wanted


FORM_ROUTES = {
    "/enter": FormRoute("/v1/session", {"email": "email", "password": "password"}),
    "/sign-up": FormRoute(
        "/v1/sign-up", {"organisation": "organisation", "email": "email", "person": "name", "password": "password"}
    ),
    "/password": FormRoute(
        "/v1/me/password", {"current": "current", "new": "new"}, "keep", page="/account", after="/account?done=password"
    ),
    "/erase": FormRoute("/v1/me/erasure", {"password": "password"}, page="/account", after="/sign-in"),
    "/forgot": FormRoute("/v1/password-resets", {"email": "email"}, after="/sign-in?done=forgot"),
    "/reset": FormRoute("/v1/password-resets/accept", {"token": "token", "password": "password"}),
    "/verify": FormRoute("/v1/verifications", {"token": "token"}, after="/sign-in?done=verify"),
    "/join": FormRoute("/v1/invitations/accept", {"token": "token", "person": "name", "password": "password"}),
}


def get_api_address() -> str:
    """Return the address of the API."""
    return (os.environ.get("RUBRICA_API_URL") or "http://127.0.0.1:8321").rstrip("/")


async def send_form(request: Request) -> Response:
    """Send a form to the API. On success, set the session's cookie and open the wanted page; else show the form again."""
    if not is_same_origin(request):
        return Response("This form belongs to another page.", HTTPStatus.FORBIDDEN)
    form = FORM_ROUTES[request.url.path]
    async with request.form(max_files=0, max_fields=MOST_FIELDS) as sent:
        typed = {name: str(sent.get(name, "")) for name in (*form.fields, "back")}
        chosen = {form.chosen: [str(value) for value in sent.getlist(form.chosen)]} if form.chosen else {}
    body = {there: typed[here] for here, there in form.fields.items()} | chosen
    answer = await ask_api("POST", form.path, request, body)
    if answer is None or answer.status_code >= 400:
        return _return_form(request, typed, answer.status_code if answer is not None else 0)
    response = RedirectResponse(form.after or keep_local(typed["back"]), HTTPStatus.SEE_OTHER)
    if TYPED_COOKIE in request.cookies:
        response.delete_cookie(TYPED_COOKIE, path="/")
    return _add_cookies(response, answer)


def _return_form(request: Request, typed: Mapping[str, str], status: int) -> Response:
    """Show the form again with everything but secrets. The typed text is in no address, so it reaches no log and no history."""
    again = {"form": request.url.path.strip("/"), "refused": str(status)} | {
        name: typed[name] for name in ("back",) if typed[name]
    }
    response = RedirectResponse(f"{FORM_ROUTES[request.url.path].page}?{urlencode(again)}", HTTPStatus.SEE_OTHER)
    cookie = json.dumps({name: value[:300] for name, value in typed.items() if name not in (*SECRET_FIELDS, "back")})
    response.set_cookie(
        TYPED_COOKIE, quote(cookie), TYPED_COOKIE_AGE_S, httponly=True, samesite="strict", secure=request.url.scheme == "https"
    )
    return response


def read_typed(cookies: Mapping[str, str]) -> Mapping[str, str]:
    """Return what was typed into a form that was refused."""
    try:
        typed = json.loads(unquote(cookies.get(TYPED_COOKIE, "{}")))
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in typed.items()} if isinstance(typed, dict) else {}


def keep_local(address: str) -> str:
    """Return the address if it belongs to this server and is safe for a redirect, else the first page."""
    parts = urlsplit(address)
    ours = address.startswith("/") and not address.startswith("//") and not parts.scheme and not parts.netloc
    return address if ours and address.isprintable() and "\\" not in address else "/"


async def sign_out(request: Request) -> Response:
    """Sign this browser out."""
    if not is_same_origin(request):
        return Response("This form belongs to another page.", HTTPStatus.FORBIDDEN)
    answer = await ask_api("DELETE", "/v1/session", request)
    response = RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER)
    response.delete_cookie(SESSION_COOKIE, path="/")
    return response if answer is None else _add_cookies(response, answer)


def is_same_origin(request: Request) -> bool:
    """Return whether a page of this server sent the form. Browsers name the origin of every POST."""
    return urlsplit(request.headers.get("origin", "")).netloc == request.headers.get("host", "")


ROUTES = [*(Route(path, send_form, methods=["POST"]) for path in FORM_ROUTES), Route("/leave", sign_out, methods=["POST"])]


class SessionRenewal:
    """An ASGI application in front of another that exchanges an old session for a new one when a page is opened."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the newer cookie, if there is one, to the answer of a page."""
        if scope["type"] != "http" or not _is_page(Request(scope)):
            await self._app(scope, receive, send)
            return
        answer = await ask_api("GET", "/v1/me", Request(scope))
        cookies = [] if answer is None else [value.encode("latin-1") for value in _session_cookies_of(answer)]

        async def with_cookies(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *((b"set-cookie", value) for value in cookies)]
            await send(message)

        await self._app(scope, receive, with_cookies)


def _is_page(request: Request) -> bool:
    return request.method == "GET" and SESSION_COOKIE in request.cookies and "text/html" in request.headers.get("accept", "")


async def ask_api(
    method: str, path: str, request: Request, body: Mapping[str, object] | None = None, *, session: bool = True
) -> httpx2.Response | None:
    """Ask the API on behalf of a browser, with its `session` if it has one; None when the API does not answer."""
    headers = {"X-Forwarded-For": request.client.host} if request.client else {}
    token = request.cookies.get(SESSION_COOKIE, "") if session else ""
    if token and token.isascii():
        headers["Cookie"] = f"{SESSION_COOKIE}={token}"
    # A client of its own for each visitor's request, since a client keeps cookies.
    async with AsyncClient(get_api_address(), headers=headers, timeout=ANSWER_LIMIT, patience=NONE, trust_env=False) as client:
        try:
            return await client.exchange(ApiRequest(method, path, bytes, body=body))
        except ApiError:
            return None


def _add_cookies(response: Response, answer: httpx2.Response) -> Response:
    for value in _session_cookies_of(answer):
        response.headers.append("set-cookie", value)
    return response


def _session_cookies_of(answer: httpx2.Response) -> list[str]:
    """Return the session's cookie as the API set it, with all its attributes."""
    return [value for value in answer.headers.get_list("set-cookie") if value.startswith(f"{SESSION_COOKIE}=")]
