"""Report whether each part answers."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta

from litestar import Response, get
from pydantic import BaseModel

from app.domain.errors import RubricaError
from app.http.authentication import PUBLIC
from app.http.dependencies import PartsService
from app.http.openapi.document import VERSION

CHECK_LIMIT = timedelta(seconds=2)


class PartHealth(BaseModel):
    """The health of one part of the product."""

    ok: bool
    detail: str = ""


class Health(BaseModel):
    """The health of all parts. `ok` is true when every part is ok."""

    ok: bool
    version: str
    parts: dict[str, PartHealth]


@get("/health", opt=PUBLIC, security=[{}], tags=["health"])
async def health(parts: PartsService) -> Response[Health]:
    """Return the state of every part; 503 while one that requests need does not answer. On a full disk, reading goes on."""
    checks = {
        "database": parts.check_database(),
        "workflows": parts.check_workflows(),
        "workers": parts.check_workers(),
        "events": parts.check_events(),
        "disk": parts.check_disk(),
    }
    states = await asyncio.gather(*(_check_part(check) for check in checks.values()))
    found = dict(zip(checks, states, strict=True))
    serves = all(state.ok for name, state in found.items() if name != "disk")
    whole = serves and found["disk"].ok
    return Response(Health(ok=whole, version=VERSION, parts=found), status_code=200 if serves else 503)


async def _check_part(check: Awaitable[str | None]) -> PartHealth:
    try:
        async with asyncio.timeout(CHECK_LIMIT.total_seconds()):
            remark = await check
    except TimeoutError:
        return PartHealth(ok=False, detail=f"no answer within {CHECK_LIMIT.total_seconds():g} s")
    except RubricaError as error:
        return PartHealth(ok=False, detail=str(error))
    return PartHealth(ok=True, detail=remark or "")
