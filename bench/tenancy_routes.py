"""Turns the application's table of routes into requests about what belongs to one organisation."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol
from uuid import UUID, uuid4

import orjson

from app.accounts.nouns.access import AccessScope
from app.http.openapi import examples
from app.http.route_table import DeclaredRoute, list_routes

PARAMETER = re.compile(r"\{(\w+):(\w+)\}")
# These are asked last, since they end what the others ask about.
LAST = ("DELETE", "/cancel", "/erasure")


class NamedThings(Protocol):
    """What addresses may name: by the whole address, its second word, or nothing, and the parameter's name."""

    @property
    def run(self) -> UUID:
        """The run that bodies name."""
        ...

    @property
    def things(self) -> Mapping[tuple[str, str], str]:
        """The values of parameters."""
        ...

    @property
    def queries(self) -> Mapping[str, str]:
        """What is put behind an address."""
        ...


class TenancyRequest(NamedTuple):
    """One request. `needs` is empty for a public route; `unknown`: its address has a parameter that nothing was made for."""

    name: str
    method: str
    path: str
    body: Any
    needs: frozenset[AccessScope]
    names_a_resource: bool
    unknown: bool


def list_requests(app: Any, house: NamedThings) -> list[TenancyRequest]:
    """Return every route of the application, with addresses of the house's things and bodies from the document's examples."""
    bodies = _collect_bodies(app)
    found = [_make_request(route, bodies, house) for route in list_routes(app)]
    return sorted(found, key=lambda route: (any(word in route.name for word in LAST), route.path, route.method))


def _make_request(route: DeclaredRoute, bodies: dict[tuple[str, str], Any], house: NamedThings) -> TenancyRequest:
    method, path = route.method, route.path
    names = PARAMETER.findall(path)
    places = (path, *path.split("/")[2:3], "")
    known = {name: next((made for at in places if (made := house.things.get((at, name)))), None) for name, _ in names}
    fallback = {"uuid": str(uuid4()), "int": "1", "str": "x"}

    def filled(match: re.Match[str]) -> str:
        return known[match.group(1)] or fallback.get(match.group(2), "x")

    example = bodies.get((method, PARAMETER.sub(r"{\1}", path)), None if method == "GET" else {})
    body = orjson.loads(orjson.dumps(example).decode().replace(examples.RUN_ID, str(house.run)))
    return TenancyRequest(
        name=route.name,
        method=method,
        path=PARAMETER.sub(filled, path) + house.queries.get(path, ""),
        body=body,
        needs=route.needs,
        names_a_resource=(bool(names) and "model" not in known) or body != example,
        unknown=not all(known.values()),
    )


def _collect_bodies(app: Any) -> dict[tuple[str, str], Any]:
    """Return a body that each write accepts: the document's example."""
    document = orjson.loads(orjson.dumps(app.openapi_schema.to_schema(), default=str))
    schemas, found = document["components"]["schemas"], {}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            named = re.search(r"#/components/schemas/(\w+)", orjson.dumps(content).decode())
            shown = [value["value"] for value in content.get("examples", {}).values()] or [content.get("example")]
            if named and shown == [None]:
                shown = examples.OF.get(named.group(1)) or schemas[named.group(1)].get("examples") or [None]
            if shown[0] is not None:
                found[method.upper(), path] = shown[0]
    return found
