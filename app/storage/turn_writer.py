"""Turns that end at the same moment are stored in one transaction.

Parallel agents wait for the same model and finish in bursts. Stored one by one, their turns queue for their run's ledger row, and
each pays for a transaction of its own; together they cost a quarter of that, in the database and here. A turn that comes alone is
stored at once, and none waits for longer than the batch before it takes.
"""

import asyncio
from collections import deque
from typing import NamedTuple
from uuid import UUID

import asyncpg
from asyncpg import Record

from app.storage.engine import OUTAGES, Executor

BATCHES_AT_ONCE = 2
LARGEST_BATCH = 100


class TurnRow(NamedTuple):
    """The arguments of the SQL function `store_turn`, in its order."""

    run: UUID
    stage: str
    attempt: int
    agent: str
    ordinal: int
    kind: str
    step: str
    digest: str
    body: bytes
    model_calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cost_microusd: int
    released_tokens: int
    released_cost: int
    next_tokens: int | None
    next_cost: int | None
    event: str
    payload: str


_TYPES = (
    *("uuid", "text", "integer", "text", "integer", "text", "text", "text", "bytea"),
    *("bigint",) * 9,
    *("text", "json"),
)
_ARRAYS = ", ".join(f"${place}::{kind}[]" for place, kind in enumerate(_TYPES, start=1))
_NAMES = ", ".join(TurnRow._fields)
# One transaction may hold the ledgers of several runs: it takes them in the order of the runs' ids, as every batch does.
STORE_TURNS = f"""
    SELECT stored.* FROM unnest({_ARRAYS}) WITH ORDINALITY AS turn ({_NAMES}, place),
        LATERAL store_turn({", ".join(f"turn.{name}" for name in TurnRow._fields)}) AS stored
    ORDER BY turn.place"""


class _Waiting(NamedTuple):
    row: TurnRow
    stored: "asyncio.Future[Record]"


class TurnWriter:
    """Stores turns, those that wait together in one statement."""

    def __init__(self, database: Executor) -> None:
        self._database = database
        self._waiting: deque[_Waiting] = deque()
        self._writers: set[asyncio.Task[None]] = set()

    async def store(self, row: TurnRow) -> Record:
        """What `store_turn` returned for this row. A row is stored even when its caller is cancelled meanwhile.

        Raises:
            PostgresError, or one of `OUTAGES`: this row was not stored, or may have been; it can be sent again.
        """
        waiting = _Waiting(row, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if len(self._writers) < BATCHES_AT_ONCE:
            writer = asyncio.create_task(self._write())
            self._writers.add(writer)
            writer.add_done_callback(self._writers.discard)
        return await waiting.stored

    async def _write(self) -> None:
        await asyncio.sleep(0)  # what else ended in this turn of the event loop goes along
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(LARGEST_BATCH, len(self._waiting)))]
            await self._store(sorted(batch, key=lambda waiting: waiting.row.run))

    async def _store(self, batch: list[_Waiting]) -> None:
        """A row that the database refuses takes no other with it: then each is stored by itself."""
        columns = map(list, zip(*(waiting.row for waiting in batch), strict=True))
        try:
            stored = await self._database.fetch(STORE_TURNS, *columns)
        except OUTAGES as error:
            _fail(batch, error)
        except asyncpg.PostgresError as error:
            if len(batch) == 1:
                _fail(batch, error)
            for waiting in batch if len(batch) > 1 else ():
                await self._store([waiting])
        except BaseException as error:
            _fail(batch, error)
            raise
        else:
            for waiting, row in zip(batch, stored, strict=True):
                if not waiting.stored.done():
                    waiting.stored.set_result(row)


def _fail(batch: list[_Waiting], error: BaseException) -> None:
    for waiting in batch:
        if waiting.stored.done():
            continue
        if isinstance(error, asyncio.CancelledError):
            waiting.stored.cancel()
        else:
            waiting.stored.set_exception(error)
