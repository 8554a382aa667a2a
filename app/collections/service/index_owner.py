"""Let the API call the index owner over its socket."""

from collections.abc import Mapping
from typing import Any

import orjson

from app.domain.errors import Conflict, InvalidInput, NotFound, RubricaError, Unavailable

LIMIT_S = 60.0
_ERRORS: Mapping[int, type[RubricaError]] = {404: NotFound, 409: Conflict}


class IndexService:
    """A client of the retrieval service at `address` (`unix:/path` or `http://host:port`); None: there is no service here.

    Raises:
        NotFound, Conflict, InvalidInput: as the index says.
        Unavailable: it does not answer, or none is configured.
    """

    def __init__(self, address: str | None) -> None:
        self._address = address

    @property
    def configured(self) -> bool:
        """True when there is an index here."""
        return self._address is not None

    async def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the index's answer to one request."""
        import aiohttp  # loaded with the first request: most APIs are never asked for pages

        if self._address is None:
            raise Unavailable("no index is configured here: set RUBRICA_RETRIEVAL_URL, or use `rubrica up`")
        socket = self._address.removeprefix("unix://").removeprefix("unix:") if self._address.startswith("unix:") else None
        base, data = "http://index" if socket else self._address, orjson.dumps(body) if body is not None else None
        try:
            async with (
                aiohttp.ClientSession(connector=aiohttp.UnixConnector(socket) if socket else None) as session,
                session.request(method, base + path, data=data, timeout=aiohttp.ClientTimeout(total=LIMIT_S)) as response,
            ):
                content, status = await response.read(), response.status
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise Unavailable(f"the index does not answer ({type(error).__name__})") from error
        told = _parse(content, status)
        if status >= 400:
            raise _ERRORS.get(status, InvalidInput if status < 500 else Unavailable)(str(told.get("error")))
        return told


def _parse(content: bytes, status: int) -> dict[str, Any]:
    """Return the answer's object; a page of a proxy is no word of the index, not even that something is not found."""
    try:
        told = orjson.loads(content or b"{}")
    except orjson.JSONDecodeError as error:
        raise Unavailable(f"the index does not answer in JSON (status {status})") from error
    if not isinstance(told, dict):
        raise Unavailable(f"the index does not answer with an object (status {status})")
    return told
