"""`python -m bench.tenancy`: ask every route of the API as everybody, and find what another organisation can read or change.

The matrix is made from the application's own table of routes, so it includes new routes by itself. Each is asked without a key,
with a wrong one, by the owner of another organisation, by each role, and by an owner whose key lacks the scope that the route
needs; every address names something of the first organisation, and none of them operates the deployment. A leak is an answer that
was not due: any that is not refused, one that repeats a word of the first organisation, and any row of it that is different
afterwards. `private_matrix` asks for words of a collection that not all of an organisation may use.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import aiohttp
import asyncpg

from app.accounts.nouns.access import SCOPES_OF_ROLE, AccessScope, Role
from app.accounts.nouns.api_key import ApiKey
from app.database.migrate import upgrade
from app.http.asgi import build_routes, create_app
from app.http.server import Server, bind
from app.http.services import Services, open_services
from app.runs.service.temporal_gateway import TemporalGateway
from bench.private_house import seed_private_house
from bench.private_matrix import MatrixOutcome, measure_private_matrix
from bench.result import print_result
from bench.tenancy_houses import SeededOrganisation, digest_rows, seed_organisation
from bench.tenancy_routes import TenancyRequest, list_requests
from infra.local.postgres import DATABASE, ROLES, LocalPostgres
from infra.local.temporal import LocalTemporal

LIMIT_S = 5
# Such a request was let in and waits for a worker, which this bench does not have.
NO_ANSWER = 504
# These need more than the scope: one must have made the collection or asked the question, or be an admin.
FINER = frozenset(
    {
        "PUT /v1/collections/{collection_id:uuid}/access",
        "DELETE /v1/collections/{collection_id:uuid}",
        "DELETE /v1/runs/{run_id:uuid}",
        "DELETE /openai/v1/responses/{response_id:str}",
    }
)
# Only the organisation that operates the deployment may do these, and neither of the two here does.
OF_OPERATOR = ("/v1/registry/cycles", "/v1/registry/plans", "POST /v1/registry/")
# A stranger may get these about another organisation's things: not found, malformed, or refused for another reason.
NOT_FOUND = frozenset({400, 404, 405, 406, 409, 413, 422, 429, 503})


class Actor(NamedTuple):
    """Somebody who asks."""

    name: str
    headers: dict[str, str]
    role: Role | None
    scopes: frozenset[AccessScope] = frozenset()


class Leak(NamedTuple):
    """An answer that was not due."""

    actor: str
    route: str
    what: str


def list_due_statuses(actor: Actor, route: TenancyRequest) -> frozenset[int] | None:
    """Return the statuses that are due; None for an actor who may do this (all but 401 and 403 are).

    What only the operator may do is refused to whoever asks here.
    """
    if not route.needs:
        return None
    if actor.role is None:
        return frozenset({401})
    if not route.needs <= actor.scopes or any(word in route.name for word in OF_OPERATOR):
        return frozenset({403})
    return None


async def send_request(session: aiohttp.ClientSession, actor: Actor, route: TenancyRequest, base: str) -> tuple[int, bytes]:
    """Send one request; return its status and the first 200 kB."""
    limit = aiohttp.ClientTimeout(total=LIMIT_S)
    request = session.request(route.method, base + route.path, json=route.body, headers=actor.headers, timeout=limit)
    try:
        async with request as answer:
            return answer.status, await answer.content.read(200_000)
    except TimeoutError:
        return NO_ANSWER, b""


async def ask_everything(
    session: aiohttp.ClientSession, base: str, routes: list[TenancyRequest], actors: list[Actor], house: SeededOrganisation
) -> tuple[int, list[Leak]]:
    """Ask every route as every actor; return the number of checks, and what leaked."""
    checks, leaks = 0, list[Leak]()
    for actor in actors:
        for route in routes:
            for asker in _list_askers(actor, route, house):
                status, body = await send_request(session, asker, route, base)
                checks += 1
                leaks += [Leak(actor.name, route.name, what) for what in find_faults(asker, route, status, body, house)]
    return checks, leaks


def _list_askers(actor: Actor, route: TenancyRequest, house: SeededOrganisation) -> list[Actor]:
    """Return the actor; for the key without the scope, one with a key for each scope that the route needs."""
    if actor.name != "key without the scope":
        return [actor]
    every = frozenset(AccessScope)
    return [actor._replace(headers=house.without[scope].headers, scopes=every - {scope}) for scope in sorted(route.needs)]


def find_faults(actor: Actor, route: TenancyRequest, status: int, body: bytes, house: SeededOrganisation) -> Iterator[str]:
    """Yield the faults of one answer."""
    expected = list_due_statuses(actor, route)
    if expected is not None and status not in expected:
        yield f"answered {status}, {sorted(expected)} is due"
    undue = (401,) if route.name in FINER and actor.role is Role.MEMBER else (401, 403)
    if route.needs and expected is None and actor.name != "other tenant" and status in undue:
        yield f"answered {status} to who may do this"
    if actor.name == "other tenant" and route.names_a_resource and expected is None and status not in NOT_FOUND:
        yield f"answered {status} about what belongs to another organisation"
    if status == 500:
        yield "failed"
    outsider = actor.role is None or actor.name == "other tenant"
    if outsider and (repeated := [mark for mark in house.secrets if mark.encode() in body]):
        yield f"repeats {repeated[0]!r}"


def actors_of(house: SeededOrganisation, other: SeededOrganisation) -> list[Actor]:
    """List everybody who asks, strangers first: what members may do changes what is there."""
    strangers = [
        Actor("no key", {}, None),
        Actor("wrong key", bearer_headers_of(ApiKey(house.owner.id, "wrong" * 8)), None),
        Actor("other tenant", bearer_headers_of(other.owner), Role.OWNER, frozenset(AccessScope)),
        Actor("key without the scope", {}, Role.OWNER, frozenset(AccessScope)),
    ]
    members = [Actor(role, house.members[role].headers, role, SCOPES_OF_ROLE[role]) for role in reversed(Role)]
    return strangers + members


def bearer_headers_of(key: ApiKey) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@asynccontextmanager
async def serve(services: Services) -> AsyncIterator[str]:
    """Serve the API; yield its address."""
    with bind("127.0.0.1", 0) as listening:
        server = Server(create_app(services), services)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        await serving


async def measure_tenancy(services: Services, database: asyncpg.Pool) -> tuple[Counter[str], list[Leak]]:
    """Measure the whole matrix over a served API."""
    house, other = [await seed_organisation(services, database, name) for name in ("First", "Second")]
    routes = list_requests(build_routes(services), house)
    async with serve(services) as base, aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        actors = actors_of(house, other)
        before = await digest_rows(database, house)
        checks, leaks = await ask_everything(session, base, routes, actors[:3], house)
        after = await digest_rows(database, house)
        changed = sorted(name for name in before if before[name] != after[name])
        leaks += [Leak("stranger", name, "rows are different") for name in changed]
        more, others = await ask_everything(session, base, routes, actors[3:], house)
    counted = Counter(checks=checks + more + len(before), routes=len(routes), unknown=sum(route.unknown for route in routes))
    return counted, leaks + others


async def measure_private(services: Services, database: asyncpg.Pool) -> MatrixOutcome:
    """Measure who reads what of a private collection, over a served API."""
    house = await seed_private_house(services, database)
    async with serve(services) as base:
        return await measure_private_matrix(base, build_routes(services), house, database)


async def run(folder: Path) -> None:
    postgres = LocalPostgres(folder / "postgres", folder / "postgres.log")
    temporal = LocalTemporal(folder / "temporal", folder / "temporal.log")
    try:
        await postgres.start()
        await temporal.start()
        await upgrade(postgres.url_of())
        api, worker = (postgres.url_of(DATABASE, role) for role in ROLES)
        async with (
            asyncpg.create_pool(postgres.url_of(), min_size=1, max_size=2) as database,
            open_services(api, worker, TemporalGateway(temporal.address)) as services,
        ):
            private = await measure_private(services, database)
            counted, leaks = await measure_tenancy(services, database)
    finally:
        temporal.stop()
        postgres.stop()
    for leak in leaks:
        print(f"LEAK {leak.actor}: {leak.route}: {leak.what}")
    for fault in private.leaks + private.missing:
        print(f"PRIVATE {fault.person}: {fault.request}: {fault.what}")
    print(f"{counted['routes']} routes, of which {counted['unknown']} name something this bench does not make")
    figures = {"private_checks": private.checks, "private_leaks": len(private.leaks), "private_missing": len(private.missing)}
    print_result("tenancy", {"checks": counted["checks"], "leaks": len(leaks), **figures})


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="rubrica-bench-") as folder:
        asyncio.run(run(Path(folder)))


if __name__ == "__main__":
    main()
