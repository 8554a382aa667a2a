"""List the routes as plain values, with what each needs, for tests that check all of them."""

from typing import NamedTuple

from litestar import Litestar
from litestar.routes import HTTPRoute

from app.accounts.nouns.access import AccessScope


class DeclaredRoute(NamedTuple):
    """One route, with Litestar's address (`{name:type}`) and its scopes. With neither `needs` nor `public`, it answers nobody."""

    method: str
    path: str
    needs: frozenset[AccessScope]
    public: bool

    @property
    def name(self) -> str:
        """The method and path as people write them."""
        return f"{self.method} {self.path}"


def list_routes(app: Litestar) -> list[DeclaredRoute]:
    """List every route except those of the OpenAPI document."""
    return [
        DeclaredRoute(method, route.path, handler.opt.get("needs", frozenset()), handler.opt.get("public") is True)
        for route in app.routes
        if isinstance(route, HTTPRoute) and not route.path.startswith("/schema")
        for handler in route.route_handlers
        for method in sorted(set(handler.http_methods) - {"OPTIONS", "HEAD"})
    ]
