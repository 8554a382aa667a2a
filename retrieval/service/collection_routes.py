"""The routes that list, inspect, build, verify and delete collections."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import orjson
from aiohttp import web

from app.domain.errors import RubricaError
from retrieval.service.json_http import answer_json, read_body
from retrieval.service.owner import IndexOwner
from retrieval.store.catalogue import Collection, CorpusKind
from retrieval.store.verification import CollectionVerification

EVERY = timedelta(seconds=5)
"""The time between two interim results of a verification."""


class CollectionRoutes:
    """The routes under `/collections`."""

    def __init__(self, owner: IndexOwner) -> None:
        self._owner = owner

    def list_routes(self) -> list[web.RouteDef]:
        """Return the routes with their handlers."""
        one = "/collections/{name}"
        return [
            web.get("/collections", self.states),
            web.post(f"{one}/build", self.build),
            web.get(f"{one}/progress", self.progress),
            web.get(f"{one}/documents", self.documents),
            web.get(f"{one}/stats", self.statistics),
            web.post(f"{one}/verify", self.verify),
            web.delete(one, self.remove),
        ]

    async def states(self, _: web.Request) -> web.Response:
        """Answer with the state of every collection."""
        return answer_json({"collections": await asyncio.to_thread(self._owner.list_states)})

    async def build(self, request: web.Request) -> web.Response:
        """Begin a build, and answer with its state at once."""
        wanted = _collection_of(_name_of(request), await read_body(request))
        return answer_json(await self._owner.build(wanted), status=202)

    async def progress(self, request: web.Request) -> web.Response:
        """Answer with the state of one collection."""
        return answer_json(await asyncio.to_thread(self._owner.state_of, _name_of(request)))

    async def documents(self, request: web.Request) -> web.Response:
        """Answer with the state of each document of a collection of uploads."""
        states, strays = await asyncio.to_thread(self._owner.list_documents, _name_of(request))
        return answer_json({"documents": [state._asdict() for state in states], "strays": strays})

    async def statistics(self, request: web.Request) -> web.Response:
        """Answer with the statistics of a collection."""
        return answer_json(await self._owner.statistics_of(_name_of(request)))

    async def verify(self, request: web.Request) -> web.StreamResponse:
        """Verify a collection, and stream the results."""
        return await stream_verification(request, self._owner)

    async def remove(self, request: web.Request) -> web.Response:
        """Delete a collection."""
        await self._owner.remove(_name_of(request))
        return web.Response(status=204)


def _name_of(request: web.Request) -> str:
    return request.match_info["name"]


def _collection_of(name: str, body: Mapping[str, Any]) -> Collection:
    given = {field: str(body.get(field) or "") for field in ("path", "licence", "tenant")}
    return Collection(name=name, kind=CorpusKind(body.get("kind", CorpusKind.FOLDER)), **given)


async def stream_verification(request: web.Request, owner: IndexOwner) -> web.StreamResponse:
    """Verify the collection that the request names, and stream interim results, since it can take hours.

    Each is a line of JSON; the last one is `finished`. A verification that cannot begin is an ordinary error.
    """
    latest: dict[str, Any] = {}

    def note_result(found: CollectionVerification) -> None:
        latest.update(asdict(found))

    work = asyncio.create_task(owner.verify(request.match_info["name"], note_result))
    await asyncio.wait([work], timeout=EVERY.total_seconds())
    if work.done():
        work.result()  # raises the error of a verification that cannot begin
    response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
    await response.prepare(request)
    while not work.done():
        await response.write(orjson.dumps(latest) + b"\n")
        await asyncio.wait([work], timeout=EVERY.total_seconds())
    await response.write(_last_line(work) + b"\n")
    return response


def _last_line(work: "asyncio.Task[CollectionVerification]") -> bytes:
    try:
        return orjson.dumps({**asdict(work.result()), "finished": True})
    except RubricaError as error:
        return orjson.dumps({"error": str(error)})
