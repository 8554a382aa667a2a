"""Reading the event log, and hearing at once when it grows."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import orjson
from asyncpg import Record

from app.database.engine import CONNECT_LIMIT, OUTAGES, Executor, translate_outages
from app.domain.run import EventType, RunStatus

CHANNEL = "rubrica_events"
PAGE = 500
FIRST_RETRY = timedelta(milliseconds=200)
LONGEST_RETRY = timedelta(seconds=5)
CHECK_EVERY = timedelta(seconds=15)
AFTER = "SELECT seq, type, agent, payload, at FROM events WHERE run_id = $1 AND seq > $2 ORDER BY seq LIMIT $3"

log = logging.getLogger(__name__)

ALL_AFTER = """
    SELECT grown.* FROM unnest($1::uuid[], $2::bigint[]) AS known (run_id, seq)
    CROSS JOIN LATERAL (SELECT run_id, seq, type, agent, payload, at FROM events
                        WHERE run_id = known.run_id AND seq > known.seq ORDER BY seq LIMIT $3) AS grown
    ORDER BY run_id, seq"""


class LoggedEvent(NamedTuple):
    """One event as it goes out: `body` is the JSON of `RunEvent`. After a `final` one nothing more happens in the run."""

    seq: int
    type: str
    final: bool
    body: bytes


async def read_after(database: Executor, run_id: UUID, seq: int, limit: int = PAGE) -> Sequence[LoggedEvent]:
    """List up to `limit` events of a run that come after number `seq`, in order."""
    async with translate_outages():
        rows = await database.fetch(AFTER, run_id, seq, limit)
    # As text: orjson knows only the standard library's own UUIDs, and the driver hands out a subclass.
    name = str(run_id)
    return [_event_of(name, row) for row in rows]


async def read_all_after(database: Executor, known: Mapping[UUID, int]) -> dict[UUID, list[LoggedEvent]]:
    """List up to `PAGE` events of each run that come after the number known of it, in order; nothing for runs without."""
    async with translate_outages():
        rows = await database.fetch(ALL_AFTER, list(known), list(known.values()), PAGE)
    pages: dict[UUID, list[LoggedEvent]] = {}
    for row in rows:
        pages.setdefault(row["run_id"], []).append(_event_of(str(row["run_id"]), row))
    return pages


def gap_event(run_id: UUID, after: int, following: int) -> LoggedEvent:
    """Return the event that a watcher gets instead of those between `after` and `following` when the log has dropped them.

    It has the number of the last of them, so that a watcher who comes back after it does not get it again.
    """
    row = {"seq": following - 1, "type": EventType.GAP, "agent": "", "at": datetime.now(UTC)}
    body = orjson.dumps({"run_id": str(run_id), **row, "payload": {"after": after, "next": following}}, option=orjson.OPT_UTC_Z)
    return LoggedEvent(following - 1, EventType.GAP, False, body)


def _event_of(run_id: str, row: Record) -> LoggedEvent:
    """Build an event once, whoever watches. The payload goes out as it was stored, unparsed."""
    payload = orjson.Fragment(row["payload"])
    event = {"run_id": run_id, "seq": row["seq"], "type": row["type"], "agent": row["agent"], "payload": payload, "at": row["at"]}
    return LoggedEvent(row["seq"], row["type"], _is_final(row), orjson.dumps(event, option=orjson.OPT_UTC_Z))


def _is_final(row: Record) -> bool:
    if row["type"] != EventType.STATUS_CHANGED:
        return False
    return RunStatus(orjson.loads(row["payload"])["status"]).finished


class EventListener:
    """One connection that hears of every new event. After a lost connection it reports a gap: what came in between must be read.

    `heard(run_id, seq)` and `gap()` are called on the event loop and must not block.
    """

    def __init__(self, database_url: str, heard: Callable[[UUID, int], None], gap: Callable[[], None]) -> None:
        self._database_url = database_url
        self._heard = heard
        self._gap = gap
        self.connected = False

    async def run(self) -> None:
        """Listen until cancelled, connecting again with growing pauses whenever the connection is lost."""
        pause = FIRST_RETRY
        while True:
            try:
                await self._listen()
                pause = FIRST_RETRY
            except (*OUTAGES, asyncpg.PostgresError) as error:
                log.warning("the event listener has no connection (%s); next attempt in %s", error, pause)
            await asyncio.sleep(pause.total_seconds())
            pause = min(2 * pause, LONGEST_RETRY)

    async def _listen(self) -> None:
        """Open a connection and listen until it is lost."""
        connection = await asyncpg.connect(self._database_url, timeout=CONNECT_LIMIT.total_seconds())
        try:
            await connection.add_listener(CHANNEL, self._pass_on)
            self.connected = True
            self._gap()
            await self._wait_until_lost(connection)
        finally:
            self.connected = False
            connection.terminate()

    async def _wait_until_lost(self, connection: asyncpg.Connection) -> None:
        """Wait for the connection's end. A closed one reports itself; a silent one (a cable, a firewall) is found by asking."""
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        while not lost.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(lost.wait(), CHECK_EVERY.total_seconds())
                return
            await connection.execute("SELECT", timeout=CONNECT_LIMIT.total_seconds())

    def _pass_on(self, _connection: Any, _pid: int, _channel: str, payload: object) -> None:
        run_id, _, seq = str(payload).rpartition(":")
        self._heard(UUID(run_id), int(seq))
