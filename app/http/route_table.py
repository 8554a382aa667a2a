"""The table of routes as plain values: what each needs, for those who check that all do."""

from typing import NamedTuple

from litestar import Litestar
from litestar.routes import HTTPRoute

from app.accounts.nouns.access import Scope


class Declared(NamedTuple):
    """One route, with Litestar's address (`{name:type}`). Neither `needs` nor `public`: it answers nobody."""

    method: str
    path: str
    needs: Scope | None
    public: bool

    @property
    def name(self) -> str:
        """As people write it."""
        return f"{self.method} {self.path}"


def declared(app: Litestar) -> list[Declared]:
    """Every route but those of the description."""
    return [
        Declared(method, route.path, handler.opt.get("needs"), handler.opt.get("public") is True)
        for route in app.routes
        if isinstance(route, HTTPRoute) and not route.path.startswith("/schema")
        for handler in route.route_handlers
        for method in sorted(set(handler.http_methods) - {"OPTIONS", "HEAD"})
    ]
