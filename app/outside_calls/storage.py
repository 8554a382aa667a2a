"""Limits, kept results, texts and counts of outside calls, shared by all workers. One round trip a method."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.domain.errors import NotFound
from app.domain.outside_calls import CallEnding, CallOpening, StoredResult

# Whose calls are counted that were made for nobody in particular.
NOBODY = UUID(int=0)
TAKE = "SELECT take_slot($1, $2, $3, $4)"
HOLD = """
    INSERT INTO outside_limits AS l (lane, next_at) VALUES ($1, clock_timestamp() + $2)
    ON CONFLICT (lane) DO UPDATE SET next_at = greatest(l.next_at, excluded.next_at)"""
BEGIN = "SELECT * FROM begin_call($1, $2, $3)"
FINISH = "SELECT finish_call($1, $2, $3, $4)"
RELEASE = "UPDATE outside_results SET claimed_until = NULL WHERE key = $1"
TEXT = "SELECT body FROM outside_texts WHERE hash = $1"
COUNT = """
    INSERT INTO outside_counts AS c (day, organisation_id, tool, outcome, within_ms, n)
    SELECT $1, coalesce(r.organisation_id, o.id, $7), e.tool, e.outcome, e.within_ms, sum(e.n)
    FROM unnest($2::text[], $3::text[], $4::integer[], $5::uuid[], $6::bigint[]) AS e (tool, outcome, within_ms, asker, n)
         LEFT JOIN runs r ON r.id = e.asker LEFT JOIN organisations o ON o.id = e.asker
    GROUP BY 2, 3, 4, 5 ORDER BY 2, 3, 4, 5
    ON CONFLICT (day, organisation_id, tool, outcome, within_ms) DO UPDATE SET n = c.n + excluded.n"""
COUNTED = """
    SELECT tool, outcome, within_ms, sum(n)::bigint AS n FROM outside_counts
    WHERE day > $1 AND ($2::uuid IS NULL OR organisation_id = $2)
    GROUP BY tool, outcome, within_ms ORDER BY tool, outcome, within_ms"""
SWEEP = "SELECT sweep_outside($1, $2, $3)"


class CacheLimits(NamedTuple):
    """How long results and texts are kept, and how large the results may grow together."""

    results: timedelta = timedelta(days=7)
    results_bytes: int = 256 * 2**20
    texts: timedelta = timedelta(days=30)


CACHE_LIMITS = CacheLimits()


class OutsideCallStore:
    """What workers know together about outside calls.

    Raises:
        Unavailable: the database does not answer.
    """

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    async def take(self, lane: str, every: timedelta, burst: int, longest: timedelta) -> timedelta | None:
        """Take the lane's next slot and return the wait for it; None when it would be longer than `longest`."""
        async with translate_outages():
            wait: timedelta | None = await self._pool.fetchval(TAKE, lane, every, burst, longest)
        return wait

    async def hold(self, lane: str, pause: timedelta) -> None:
        """Let nobody begin a call on this lane for a while."""
        async with translate_outages():
            await self._pool.execute(HOLD, lane, pause)

    async def begin(self, key: str, max_age: timedelta, lease: timedelta) -> CallOpening:
        """Return a result not older than `max_age`, or a claim on the call, which ends after `lease`, or neither."""
        async with translate_outages():
            row = await self._pool.fetchrow(BEGIN, key, max_age, lease)
        assert row is not None
        kept = StoredResult(row["body"], row["fetched_at"], row["age"]) if row["body"] is not None else None
        return CallOpening(kept, row["mine"])

    async def finish(self, key: str, body: bytes, texts: Mapping[str, str]) -> datetime:
        """Keep a result and its texts by hash; the time by the database's clock."""
        hashes, bodies = list(texts), [text.encode() for text in texts.values()]
        async with translate_outages():
            at: datetime = await self._pool.fetchval(FINISH, key, body, hashes, bodies)
        return at

    async def release(self, key: str) -> None:
        """Give a claim back without a result."""
        async with translate_outages():
            await self._pool.execute(RELEASE, key)

    async def text(self, name: str) -> str:
        """Return a text by its hash.

        Raises:
            NotFound: it never came from outside, or is forgotten.
        """
        async with translate_outages():
            body: bytes | None = await self._pool.fetchval(TEXT, name)
        if body is None:
            raise NotFound(f"no text from outside is kept under {name}")
        return body.decode()

    async def count(self, endings: Mapping[CallEnding, int]) -> None:
        """Add to the counts of today (UTC)."""
        columns = zip(*endings, strict=True)  # tools, outcomes, edges, askers
        async with translate_outages():
            await self._pool.execute(COUNT, datetime.now(UTC).date(), *columns, list(endings.values()), NOBODY)

    async def list_counts(self, days: int, organisation: UUID | None = None) -> Sequence[tuple[CallEnding, int]]:
        """Return the counts of the last `days` days: of an organisation, or of the whole deployment."""
        async with translate_outages():
            rows = await self._pool.fetch(COUNTED, datetime.now(UTC).date() - timedelta(days=days), organisation)
        return [(CallEnding(row["tool"], row["outcome"], row["within_ms"]), row["n"]) for row in rows]

    async def sweep(self, limits: CacheLimits = CACHE_LIMITS) -> int:
        """Forget what is too old or too much; how many results that were."""
        async with translate_outages():
            return int(await self._pool.fetchval(SWEEP, *limits))
