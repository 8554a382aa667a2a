"""Signing in and out: plain forms that this server answers itself, so that a session is a cookie which no script can read.

The API makes the session and its cookie; this server hands the cookie on to the browser. Every page is asked for with that
cookie, and the API's answer to who that is may bring a newer one.
"""

import os
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

import requests
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "rubrica_session"
LIMIT = (3.0, 15.0)  # seconds to connect and to answer
FORMS = {
    "/enter": ("/v1/session", ("email", "password")),
    "/sign-up": ("/v1/sign-up", ("organisation", "email", "name", "password")),
    "/join": ("/v1/invitations/accept", ("token", "name", "password")),
}


def address() -> str:
    """Where the API is."""
    return (os.environ.get("RUBRICA_API_URL") or "http://127.0.0.1:8321").rstrip("/")


async def enter(request: Request) -> Response:
    """A form was sent: on success the session's cookie and the first page, else the form again with the reason's number."""
    if not same_origin(request):
        return Response("This form belongs to another page.", HTTPStatus.FORBIDDEN)
    path, fields = FORMS[request.url.path]
    async with request.form(max_files=0, max_fields=10) as form:
        body = {name: str(form.get(name, "")) for name in fields}
    answer = await run_in_threadpool(_ask, "POST", path, request, body)
    if answer is None or answer.status_code >= 400:
        status = answer.status_code if answer is not None else 0
        again = {"form": request.url.path.strip("/"), "refused": str(status)}
        return RedirectResponse("/sign-in?" + urlencode(again), HTTPStatus.SEE_OTHER)
    return _with_cookies(RedirectResponse("/", HTTPStatus.SEE_OTHER), answer)


async def leave(request: Request) -> Response:
    """Sign out of this browser."""
    if not same_origin(request):
        return Response("This form belongs to another page.", HTTPStatus.FORBIDDEN)
    answer = await run_in_threadpool(_ask, "DELETE", "/v1/session", request, None)
    response = RedirectResponse("/sign-in", HTTPStatus.SEE_OTHER)
    response.delete_cookie(COOKIE, path="/")
    return response if answer is None else _with_cookies(response, answer)


def same_origin(request: Request) -> bool:
    """Whether a form was sent by a page of this server. Browsers name the origin of every POST."""
    return urlsplit(request.headers.get("origin", "")).netloc == request.headers.get("host", "")


ROUTES = [*(Route(path, enter, methods=["POST"]) for path in FORMS), Route("/leave", leave, methods=["POST"])]


class Renewal:
    """An ASGI application in front of another: a session that has grown old is exchanged when a page is opened."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; a page's answer brings the newer cookie, if there is one."""
        if scope["type"] != "http" or not _is_page(Request(scope)):
            await self._app(scope, receive, send)
            return
        answer = await run_in_threadpool(_ask, "GET", "/v1/me", Request(scope), None)
        cookies = [] if answer is None else [value.encode("latin-1") for value in _cookies(answer)]

        async def with_cookies(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *((b"set-cookie", value) for value in cookies)]
            await send(message)

        await self._app(scope, receive, with_cookies)


def _is_page(request: Request) -> bool:
    return request.method == "GET" and COOKIE in request.cookies and "text/html" in request.headers.get("accept", "")


def _ask(method: str, path: str, request: Request, body: dict[str, str] | None) -> requests.Response | None:
    """Ask the API on behalf of a browser; None when it does not answer."""
    headers = {"X-Forwarded-For": request.client.host} if request.client else {}
    cookies = {COOKIE: request.cookies[COOKIE]} if COOKIE in request.cookies else {}
    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.request(
                method, address() + path, json=body, headers=headers, cookies=cookies, timeout=LIMIT, allow_redirects=False
            )
        except requests.RequestException:
            return None


def _with_cookies(response: Response, answer: requests.Response) -> Response:
    for value in _cookies(answer):
        response.headers.append("set-cookie", value)
    return response


def _cookies(answer: requests.Response) -> list[str]:
    """The session's cookie as the API set it, with all that it says of how to keep it."""
    return [value for value in answer.raw.headers.getlist("set-cookie") if value.startswith(f"{COOKIE}=")]
