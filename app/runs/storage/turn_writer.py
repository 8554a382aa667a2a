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

from app.database.engine import OUTAGES, Executor

BATCHES_AT_ONCE = 2
LARGEST_BATCH = 100


class TurnArguments(NamedTuple):
    """The arguments of the SQL function `store_turn`, in its order; `store_turns` takes an array of each."""

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


_TYPES = ("uuid", "text", "integer", "text", "integer", "text", "text", "text", "bytea") + ("bigint",) * 9 + ("text", "json")
_ARGUMENTS = [f"${place}::{kind}" for place, kind in enumerate(_TYPES, start=1)]
STORE_TURN = f"SELECT * FROM store_turn({', '.join(_ARGUMENTS)})"
STORE_TURNS = f"SELECT * FROM store_turns({', '.join(f'{argument}[]' for argument in _ARGUMENTS)})"


class _WaitingRow(NamedTuple):
    row: TurnArguments
    stored: "asyncio.Future[Record]"


class TurnWriter:
    """Stores turns, those that wait together in one statement."""

    def __init__(self, database: Executor) -> None:
        self._database = database
        self._waiting: deque[_WaitingRow] = deque()
        self._writers: set[asyncio.Task[None]] = set()

    async def store(self, row: TurnArguments) -> Record:
        """Store a row, and return the database's answer. It is stored even when its caller is cancelled meanwhile.

        Raises:
            PostgresError, or one of `OUTAGES`: this row was not stored, or may have been; it can be sent again.
        """
        waiting = _WaitingRow(row, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        if len(self._writers) < BATCHES_AT_ONCE:
            writer = asyncio.create_task(self._write())
            self._writers.add(writer)
            writer.add_done_callback(self._writers.discard)
        return await waiting.stored

    async def _write(self) -> None:
        await asyncio.sleep(0)  # what else ended in this turn of the event loop goes along
        while self._waiting:
            await self._store([self._waiting.popleft() for _ in range(min(LARGEST_BATCH, len(self._waiting)))])

    async def _store(self, batch: list[_WaitingRow]) -> None:
        """Store a batch. When the database refuses a row of it, each is stored by itself, so that the others are not lost."""
        try:
            stored = await self._send([waiting.row for waiting in batch])
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

    async def _send(self, rows: list[TurnArguments]) -> list[Record]:
        if len(rows) == 1:  # for one, its own function costs two thirds
            return await self._database.fetch(STORE_TURN, *rows[0])
        return await self._database.fetch(STORE_TURNS, *map(list, zip(*rows, strict=True)))


def _fail(batch: list[_WaitingRow], error: BaseException) -> None:
    for waiting in batch:
        if waiting.stored.done():
            continue
        if isinstance(error, asyncio.CancelledError):
            waiting.stored.cancel()
        else:
            waiting.stored.set_exception(error)
