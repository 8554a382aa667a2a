"""What the command line asks of the HTTP API."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import aiohttp

from app.asking.nouns import Estimate
from app.collections.nouns import Collection, OwnDocument
from app.domain.errors import Conflict, InvalidInput, NotFound, RubricaError, Unavailable
from app.domain.rubric import Rubric
from app.domain.run import Run, RunEvent
from app.domain.scorecard import Scorecard
from app.exports.nouns import ExportFormat
from app.outside.nouns import ToolUse

REQUEST_LIMIT = timedelta(seconds=60)
# The server sends a comment at least every 15 s, so a silence twice as long means a dead connection.
SILENCE_LIMIT = timedelta(seconds=30)
RECONNECT_PAUSE = timedelta(seconds=0.5)
GIVE_UP_AFTER = timedelta(seconds=60)
# One event is one line, and a plan can be a long one.
LONGEST_LINE = 4 * 2**20

_ERRORS: Mapping[int, type[RubricaError]] = {400: InvalidInput, 404: NotFound, 409: Conflict, 503: Unavailable}


class ApiClient:
    """One API, one connection pool. Problems (RFC 9457) are raised as the domain's errors, silence as `Unavailable`."""

    def __init__(self, address: str, key: str | None = None) -> None:
        self._address = address
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {key}"} if key else None,
            timeout=aiohttp.ClientTimeout(total=REQUEST_LIMIT.total_seconds()),
            read_bufsize=LONGEST_LINE,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._session.close()

    async def create(self, request: Mapping[str, Any]) -> Run:
        """Ask a question."""
        return Run.of_any_version(await self._send("POST", "/v1/runs", request))

    async def run(self, run_id: str) -> Run:
        """One run as it stands."""
        return Run.of_any_version(await self._send("GET", f"/v1/runs/{run_id}"))

    async def runs(self, limit: int) -> list[Run]:
        """The newest runs, newest first."""
        page = json.loads(await self._send("GET", f"/v1/runs?limit={limit}"))
        return [Run.of_any_version(item) for item in page["items"]]

    async def estimate(self, request: Mapping[str, Any]) -> Estimate:
        """What a run of this request will probably take."""
        return Estimate.of_any_version(await self._send("POST", "/v1/estimates", request))

    async def rubric(self, run_id: str) -> Rubric:
        """What the run's report is held to."""
        return Rubric.of_any_version(json.loads(await self._send("GET", f"/v1/runs/{run_id}/rubric"))["rubric"])

    async def scorecard(self, run_id: str) -> Scorecard:
        """How well the report does that."""
        return Scorecard.of_any_version(await self._send("GET", f"/v1/runs/{run_id}/scorecard"))

    async def command(self, run_id: str, name: str, body: Mapping[str, Any] | None = None, method: str = "POST") -> None:
        """`pause`, `resume`, `cancel`, `notes`, `plan`, `plan/subtasks`, `budget`: whatever changes a run."""
        await self._send(method, f"/v1/runs/{run_id}/{name}", body)

    async def report(self, run_id: str, media_type: str) -> bytes:
        """The report as `text/markdown` or `text/html`."""
        return await self._send("GET", f"/v1/runs/{run_id}/report", accept=media_type)

    async def evidence(self, run_id: str) -> bytes:
        """The content of evidence.json."""
        return await self._send("GET", f"/v1/runs/{run_id}/evidence")

    async def export(self, run_id: str, form: ExportFormat) -> bytes:
        """The report as a file of this form."""
        return await self._send("GET", f"/v1/runs/{run_id}/export?format={form.value}", accept="*/*")

    async def tape(self, run_id: str) -> bytes:
        """What the run's tools brought, as a tape."""
        return await self._send("GET", f"/v1/runs/{run_id}/tape", accept="*/*")

    async def snapshot(self, name: str) -> bytes:
        """The stored copy of a source, as UTF-8 text."""
        return await self._send("GET", f"/v1/snapshots/{name}", accept="text/plain")

    async def collections(self) -> list[Collection]:
        """The collections of own documents that one may use, newest first."""
        return [Collection.of_any_version(item) for item in await self._all("/v1/collections")]

    async def create_collection(self, name: str) -> Collection:
        """A new collection."""
        return Collection.of_any_version(await self._send("POST", "/v1/collections", {"name": name}))

    async def documents(self, collection: UUID) -> list[OwnDocument]:
        """The documents of a collection, newest first."""
        return [OwnDocument.of_any_version(item) for item in await self._all(f"/v1/collections/{collection}/documents")]

    async def upload(self, collection: UUID, path: Path) -> OwnDocument:
        """Send a file; it is read from the disk as it goes."""
        with path.open("rb") as content:
            form = aiohttp.FormData(quote_fields=False)  # as browsers send names
            form.add_field("file", content, filename=path.name)
            url = f"{self._address}/v1/collections/{collection}/documents"
            async with self._answer("POST", url, data=form, timeout=aiohttp.ClientTimeout(total=None)) as answer:
                return OwnDocument.of_any_version(json.loads(await answer.read())["items"][0])

    async def remove_documents(self, collection: UUID, document: UUID | None = None) -> None:
        """Delete a collection, or one document of it."""
        part = f"/documents/{document}" if document else ""
        await self._send("DELETE", f"/v1/collections/{collection}{part}")

    async def _all(self, path: str) -> list[dict[str, Any]]:
        """Every item of a list, page by page."""
        items: list[dict[str, Any]] = []
        after = ""
        while True:
            page = json.loads(await self._send("GET", f"{path}?limit=100{after}"))
            items += page["items"]
            if page["next"] is None:
                return items
            after = f"&before={page['next']}"

    async def tools(self) -> list[ToolUse]:
        """The services outside, with how their calls went."""
        return [ToolUse.of_any_version(item) for item in json.loads(await self._send("GET", "/v1/tools"))["items"]]

    async def events(self, run_id: str, after: int = 0) -> AsyncIterator[RunEvent]:
        """Every event with a number above `after`, once and in order, over as many connections as it takes.

        Ends after the run's last event.

        Raises:
            Unavailable: the API has been away for a minute.
        """
        away_since: float | None = None
        clock = asyncio.get_running_loop()
        while True:
            try:
                async for event in self._stream(run_id, after):
                    away_since, after = None, event.seq
                    yield event
                if (await self.run(run_id)).status.finished:
                    return
            except Unavailable:
                away_since = away_since or clock.time()
                if clock.time() - away_since > GIVE_UP_AFTER.total_seconds():
                    raise
            await asyncio.sleep(RECONNECT_PAUSE.total_seconds())

    async def _stream(self, run_id: str, after: int) -> AsyncIterator[RunEvent]:
        limit = aiohttp.ClientTimeout(total=None, sock_read=SILENCE_LIMIT.total_seconds())
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        url = f"{self._address}/v1/runs/{run_id}/events"
        async with self._answer("GET", url, headers=headers, timeout=limit) as answer:
            async for line in answer.content:
                if line.startswith(b"data:"):
                    yield RunEvent.of_any_version(line.removeprefix(b"data:").strip())

    async def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, accept: str = "application/json"
    ) -> bytes:
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Accept": accept} | ({"Content-Type": "application/json"} if data is not None else {})
        async with self._answer(method, self._address + path, data=data, headers=headers) as answer:
            return await answer.read()

    @asynccontextmanager
    async def _answer(self, method: str, url: str, **options: Any) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            async with self._session.request(method, url, **options) as answer:
                await _refuse_problems(answer)
                yield answer
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as error:
            raise Unavailable(f"the API at {self._address} does not answer: {error or type(error).__name__}") from error


async def _refuse_problems(answer: aiohttp.ClientResponse) -> None:
    if answer.status < 400:
        return
    body = await answer.read()
    try:
        problem = json.loads(body)
        said = problem.get("detail") or problem.get("title") or answer.reason
    except (ValueError, AttributeError):
        said = answer.reason
    kind = _ERRORS.get(answer.status, InvalidInput if answer.status < 500 else RubricaError)
    raise kind(str(said) if answer.status < 500 else f"the API failed ({answer.status}): {said}; its log says more")
