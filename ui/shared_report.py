"""The page of a shared report: read without an account, by a link that somebody has sent.

The API makes the HTML and its headers: the page runs no script, loads nothing, and is found by no search engine.
"""

import re
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from ui.components.markup import escape
from ui.language import load_table, pick_language
from ui.sign_in import ask_api

TOKEN = re.compile(r"[A-Za-z0-9_-]{32}")
KEPT_HEADERS = ("content-security-policy", "x-robots-tag", "referrer-policy", "cache-control")
STRICT_HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Robots-Tag": "noindex",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
STYLE = "body{font:1.1rem/1.6 Georgia,serif;max-width:34rem;margin:18vh auto;padding:0 1.5rem}:root{color-scheme:light dark}"


async def answer_shared(request: Request) -> Response:
    """Answer with the shared version, or say that the link has ended. The visitor's own session is not sent to the API."""
    token = request.path_params["token"]
    if not TOKEN.fullmatch(token):
        return _answer_gone(request, "ended", HTTPStatus.NOT_FOUND)
    answer = await ask_api("GET", ("v1", "shared", token), request, session=False)
    if answer is None or answer.status_code >= 500:
        return _answer_gone(request, "away", HTTPStatus.SERVICE_UNAVAILABLE)
    if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return _answer_gone(request, "away", HTTPStatus.TOO_MANY_REQUESTS)
    if answer.status_code >= 400:
        return _answer_gone(request, "ended", HTTPStatus.NOT_FOUND)
    headers = {name: answer.headers[name] for name in KEPT_HEADERS if name in answer.headers}
    return HTMLResponse(answer.content, headers=STRICT_HEADERS | headers)


def _answer_gone(request: Request, what: str, status: HTTPStatus) -> Response:
    code = pick_language(request.cookies, request.headers.get("accept-language", ""))
    wordings = load_table(code)
    title, why = escape(wordings[f"shared.{what}"]), escape(wordings[f"shared.{what}_why"])
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title><style>{STYLE}</style>'
    )
    body = f"<h1>{title}</h1><p>{why}</p>"
    return HTMLResponse(
        f'<!doctype html><html lang="{code}"><head>{head}</head><body>{body}</body></html>', status, STRICT_HEADERS
    )


ROUTES = [Route("/shared/{token}", answer_shared, methods=["GET"])]
