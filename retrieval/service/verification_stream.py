"""A verification over HTTP. It can take hours, so interim results are sent as lines of JSON; the last one is `finished`."""

import asyncio
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import orjson
from aiohttp import web

from app.domain.errors import RubricaError
from retrieval.service.owner import IndexOwner
from retrieval.store.verifying import Verification

EVERY = timedelta(seconds=5)


async def stream_verification(request: web.Request, owner: IndexOwner) -> web.StreamResponse:
    """Verify the collection that the request names. A verification that cannot begin is an ordinary error."""
    latest: dict[str, Any] = {}

    def told(found: Verification) -> None:
        latest.update(asdict(found))

    work = asyncio.create_task(owner.verify(request.match_info["name"], told))
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


def _last_line(work: "asyncio.Task[Verification]") -> bytes:
    try:
        return orjson.dumps({**asdict(work.result()), "finished": True})
    except RubricaError as error:
        return orjson.dumps({"error": str(error)})
