"""Keep what a client gave along with a question, beside the run, which knows nothing of it."""

from collections.abc import Awaitable, Callable, Mapping
from uuid import UUID

import orjson
from pydantic import Field

from app.database.engine import Executor, translate_outages
from app.domain.errors import NotFound
from app.domain.value import Value

KEEP = "INSERT INTO response_details (id, run_id, notes, previous_id, retrievable) VALUES ($1, $2, $3, $4, $5)"
GET = "SELECT notes, previous_id, retrievable FROM response_details WHERE id = $1"


class ResponseDetails(Value):
    """The client's own notes, the response that this one follows, and whether it may be read and followed later (`store`)."""

    metadata: Mapping[str, str] = Field(default_factory=dict)
    previous: UUID | None = None
    retrievable: bool = True


NO_DETAILS = ResponseDetails()


class KeptDetails:
    """The details of all responses. A response without any has no row.

    Raises:
        Unavailable: the database does not answer.
    """

    def __init__(self, database: Executor) -> None:
        self._database = database

    async def keep(self, response: UUID, run_id: UUID, details: ResponseDetails) -> None:
        """Keep the details of a new response, which is a run or a further question to one."""
        if details == NO_DETAILS:
            return
        notes = orjson.dumps(details.metadata).decode()
        async with translate_outages():
            await self._database.execute(KEEP, response, run_id, notes, details.previous, details.retrievable)

    @staticmethod
    def in_transaction(details: ResponseDetails) -> Callable[[Executor, UUID], Awaitable[None]]:
        """Return what keeps the details of a run in the transaction that stores it, so that neither is there alone."""
        return lambda connection, run_id: KeptDetails(connection).keep(run_id, run_id, details)

    async def get(self, response: UUID) -> ResponseDetails:
        """Return the details of a response.

        Raises:
            NotFound: it was asked with `store` false.
        """
        async with translate_outages():
            row = await self._database.fetchrow(GET, response)
        if row is None:
            return NO_DETAILS
        if not row["retrievable"]:
            raise NotFound(f"the response resp_{response.hex} was asked with `store` false; its run is at /v1/runs")
        return ResponseDetails(metadata=orjson.loads(row["notes"]), previous=row["previous_id"])
