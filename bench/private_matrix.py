"""Asks every route as everybody for words of a private document: who may not use its collection finds what the report quotes.

Routes come from the application's own table, so that a new one is asked by itself; so do all forms in which an answer comes on
demand. Who may use the collection must find each word somewhere, and each route's own words there.
"""

import asyncio
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from typing import Any, NamedTuple

import aiohttp
import asyncpg

from app.accounts.nouns.access import AccessScope
from app.exports.nouns import ExportFormat
from bench.export_readers import compact_text
from bench.private_house import MAY_READ, HousePerson, PrivateHouse, narrow
from bench.private_run import HIDDEN, NOTICE, ON_THE_WEB, WORDS
from bench.tenancy_belongings import RUNS
from bench.tenancy_routes import list_requests

READ_S, WRITE_S = 300, 3
"""An export may take long; a write may wait for a worker that is not there, and what came of its answer is looked through."""
RUNS_ALONE = frozenset({AccessScope.RUNS_READ})
ANYBODY = "anybody with the link"
# The words that a route has for who may read them, by their numbers.
DUE = {
    f"GET {RUNS}/tape": (26,),
    f"GET {RUNS}/events": (9, 14, 16, 19, 20),
    f"GET {RUNS}/questions": (28, 29),
    f"GET {RUNS}/questions/{{task_id:uuid}}": (28, 29),
    f"GET {RUNS}/contradictions": (4, 5, 6),
    f"GET {RUNS}/scorecard": (8, 25),
    f"GET {RUNS}/evidence": (7,),
    f"GET {RUNS}/export html": (4,),
    "GET /v1/comparisons/{comparison_id:uuid}": (30, 31),
    "GET /v1/schedules/{schedule_id:uuid}/changes": (34, 35, 36, 37),
    "GET /v1/snapshots/{snapshot:str}": tuple(range(len(WORDS))),
    "GET /openai/v1/responses/{response_id:str}": (9,),
}


class MatrixRequest(NamedTuple):
    """One request. `needs` are the scopes of its route."""

    name: str
    method: str
    path: str
    needs: frozenset[AccessScope]
    body: Any = None
    accept: str = "*/*"


class MatrixFault(NamedTuple):
    """Words that came and were not due, or that were due and did not come."""

    person: str
    request: str
    what: str


class MatrixOutcome(NamedTuple):
    """How many answers were looked through, the words that came and were not due, and those that were due and did not come."""

    checks: int
    leaks: list[MatrixFault]
    missing: list[MatrixFault]


async def measure_private_matrix(
    base: str, app: Any, house: PrivateHouse, database: asyncpg.Pool, formats: Iterable[ExportFormat] = ExportFormat
) -> MatrixOutcome:
    """Ask everything as everybody of the API at `base`: what only reads first, then what changes, then once more what reads.

    `formats` are those of exports to be asked for.
    """
    requests = list(_list_all(app, house, tuple(formats)))
    reads, writes = [r for r in requests if r.method == "GET"], [r for r in requests if r.method != "GET"]
    narrowed = [await narrow(database, house.people[name], RUNS_ALONE) for name in ("maker", "colleague")]
    people = [*house.people.values(), *narrowed]
    strangers = [person for person in people if person.name not in MAY_READ]
    outcome = MatrixOutcome(0, [], [])
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        asking = _Asking(session, base)
        for person in [None, *people]:
            outcome = await asking.ask_all(person, reads, outcome)
        for person in strangers:
            outcome = await asking.ask_all(person, writes, outcome)
        return await asking.ask_all(house.people["colleague"], reads, outcome)


class _Asking:
    def __init__(self, session: aiohttp.ClientSession, base: str) -> None:
        self._session = session
        self._base = base

    async def ask_all(
        self, person: HousePerson | None, requests: Sequence[MatrixRequest], so_far: MatrixOutcome
    ) -> MatrixOutcome:
        """Ask all of them as one person, or as nobody; add what was found."""
        checks, leaks, missing = so_far
        seen = set[str]()
        for request in requests:
            found = await self._find_words(person, request)
            seen |= found
            leaks = leaks + list(list_leaks(person, request, found))
            missing = missing + list(list_missing(person, request, found))
        if person is not None and person.name in MAY_READ and (never := sorted(set(WORDS) - seen)):
            missing = [*missing, MatrixFault(person.name, "all routes", f"nowhere found {', '.join(never)}")]
        return MatrixOutcome(checks + len(requests), leaks, missing)

    async def _find_words(self, person: HousePerson | None, request: MatrixRequest) -> set[str]:
        """Send one request; return the words of the document in what came of its answer."""
        headers = {"Accept": request.accept, **(person.headers if person else {})}
        limit = aiohttp.ClientTimeout(total=READ_S if request.method == "GET" else WRITE_S)
        came = bytearray()
        sent = self._session.request(request.method, self._base + request.path, json=request.body, headers=headers, timeout=limit)
        try:
            async with sent as answer:
                async for piece in answer.content.iter_any():
                    came += piece
        except TimeoutError:
            pass
        return await asyncio.to_thread(find_words, bytes(came))


def find_words(content: bytes) -> set[str]:
    """Return the words of the document in an answer, whatever its form."""
    text = compact_text(_read_text(content))
    return {word for word in WORDS if word in text}


def _read_text(content: bytes) -> str:
    if content.startswith(b"PK"):
        with zipfile.ZipFile(BytesIO(content)) as packed:
            return "".join(packed.read(name).decode(errors="replace") for name in packed.namelist())
    if content.startswith(b"%PDF"):
        import pypdf

        return "".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(content)).pages)
    return content.decode(errors="replace")


def list_leaks(person: HousePerson | None, request: MatrixRequest, found: Iterable[str]) -> Iterator[MatrixFault]:
    """Yield the fault of an answer with words that were not due."""
    name = person.name if person else ANYBODY
    if name in MAY_READ:
        return
    kept = set(HIDDEN if _reads_report(person, request) else WORDS)
    if undue := sorted(kept & set(found)):
        yield MatrixFault(name, f"{request.name} {request.accept}", f"repeats {', '.join(undue)}")


def _reads_report(person: HousePerson | None, request: MatrixRequest) -> bool:
    if "/shared/" in request.path:
        return True
    return person is not None and person.name != "other organisation" and AccessScope.REPORTS_READ in person.scopes


def list_missing(person: HousePerson | None, request: MatrixRequest, found: set[str]) -> Iterator[MatrixFault]:
    """Yield the fault of an answer without words that were due."""
    if person is not None and person.name in MAY_READ and (lost := {WORDS[n] for n in DUE.get(request.name, ())} - found):
        yield MatrixFault(person.name, request.name, f"lacks {', '.join(sorted(lost))}")


def _list_all(app: Any, house: PrivateHouse, formats: Sequence[ExportFormat]) -> Iterator[MatrixRequest]:
    """Yield every route, and what it gives on demand; each reading of the run once more of its second report's run."""
    for route in list_requests(app, house):
        made = MatrixRequest(route.name, route.method, route.path, route.needs, route.body)
        yield made
        if route.method == "GET" and str(house.run) in route.path:
            second = route.path.replace(str(house.run), str(house.made_run))
            yield made._replace(name=f"{route.name} of the second report", path=second)
        yield from _list_forms(made, house, formats)


def _list_forms(made: MatrixRequest, house: PrivateHouse, formats: Sequence[ExportFormat]) -> Iterator[MatrixRequest]:
    match made.name.removeprefix("GET "):
        case "/v1/runs/{run_id:uuid}/report" | "/v1/shared/{token:str}":
            yield from (made._replace(accept=accept) for accept in ("text/html", "text/markdown"))
        case "/v1/runs/{run_id:uuid}/export":
            plain = made.path.partition("?")[0]
            for form in formats:
                yield made._replace(name=f"{made.name} {form}", path=f"{plain}?format={form}")
        case "/v1/snapshots/{snapshot:str}":
            for source in (NOTICE, ON_THE_WEB):
                yield made._replace(name=f"{made.name} of {source.title}", path=f"/v1/snapshots/{source.snapshot}")
        case "/openai/v1/responses/{response_id:str}":
            yield made._replace(name=f"{made.name} as a stream", path=f"{made.path}?stream=true")
            for answer in (f"resp_{house.question.hex}", f"resp_{house.made_run.hex}"):
                for query in ("", "?stream=true"):
                    yield made._replace(name=f"{made.name} of {answer[:9]} {query}", path=f"/openai/v1/responses/{answer}{query}")
        case "/v1/runs/{run_id:uuid}/events":
            yield made._replace(name=f"{made.name} after the first", path=f"{made.path}?after=1")
