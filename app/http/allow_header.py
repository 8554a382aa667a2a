"""Name every method of the path in `Allow` of an answer to OPTIONS. Litestar names those of the first handler only."""

from litestar import Litestar
from litestar.enums import ScopeType
from litestar.routes import HTTPRoute
from litestar.types import Message, Scope


async def name_all_methods(message: Message, scope: Scope) -> None:
    """Set the `Allow` header of an OPTIONS answer; Litestar calls this before it sends."""
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
