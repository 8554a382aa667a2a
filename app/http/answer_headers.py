"""Headers that answers get on their way out: the methods of a path, and how much of a limit is left."""

import math

from litestar import Litestar
from litestar.enums import ScopeType
from litestar.routes import HTTPRoute
from litestar.types import Message, Scope, Send

from app.quotas.service import MINUTE, Admission

SECONDS = int(MINUTE.total_seconds())


async def name_all_methods(message: Message, scope: Scope) -> None:
    """Name every method of the path in `Allow` of an answer to OPTIONS; Litestar names those of the first handler only.

    Litestar calls this before it sends.
    """
    if scope["type"] != ScopeType.HTTP or scope["method"] != "OPTIONS" or message["type"] != "http.response.start":
        return
    headers = [(name, value) for name, value in message["headers"] if name.lower() != b"allow"]
    if len(headers) < len(list(message["headers"])):
        methods = _list_methods(scope["litestar_app"]).get(scope["path_template"], ())
        message["headers"] = [*headers, (b"allow", ", ".join(sorted(methods)).encode())]


def _list_methods(app: Litestar) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            found.setdefault(route.path_format, set()).update(route.methods)
    return found


def add_pace_headers(send: Send, admission: Admission) -> Send:
    """Add `RateLimit-Policy` (requests per seconds) and `RateLimit` (what is left, and seconds until the full limit is back).

    They are those of draft-ietf-httpapi-ratelimit-headers.
    """
    taken = admission.taken
    headers = [
        (b"ratelimit-policy", f'"minute";q={admission.limit};w={SECONDS}'.encode()),
        (b"ratelimit", f'"minute";r={taken.remaining};t={math.ceil(taken.full_in.total_seconds())}'.encode()),
    ]

    async def reply(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", ()), *headers]
        await send(message)

    return reply
