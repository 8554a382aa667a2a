"""Turns stored together mean what they mean one by one: random batches, sent both ways, leave the same record and bill."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from app.domain.budget import Budget
from app.runs.storage.turn_writer import STORE_TURN, STORE_TURNS, TurnArguments, TurnWriter
from tests.app.conftest import NewRun

WORLDS, BATCHES, LARGEST = 8, 8, 12
BUDGETS = {
    "free": Budget(),
    "few tokens": Budget(max_tokens=900),
    "little money": Budget(max_cost_microusd=400),
    "both": Budget(max_tokens=2_000, max_cost_microusd=900, max_seconds=3_600),
    "out of time": Budget(max_seconds=60),
}
STAGES = ("plan", "search/s1", "search/s2")
NEVER_OPENED = "report"
RUNNING_SINCE = "UPDATE ledgers SET running_since = now() - interval '2 hours' WHERE run_id = $1"
STAGE = "INSERT INTO stages (run_id, stage, attempt, dropped) VALUES ($1, $2, $3, $4)"
AGED = "UPDATE turns SET attempt = NULL WHERE run_id = $1 AND ordinal % 3 = 0"
RECORD = """
    SELECT ((to_jsonb(l) - '{run_id,updated_at,running_since}'::text[])::text) AS ledger,
           (SELECT array_agg((to_jsonb(s) - '{run_id,opened_at}'::text[])::text ORDER BY s.stage) FROM stages s
            WHERE s.run_id = l.run_id) AS stages,
           (SELECT array_agg((to_jsonb(t) - '{run_id,created_at}'::text[])::text ORDER BY t.seq) FROM turns t
            WHERE t.run_id = l.run_id) AS turns,
           (SELECT array_agg((to_jsonb(e) - '{run_id,at}'::text[])::text ORDER BY e.seq) FROM events e
            WHERE e.run_id = l.run_id) AS events
    FROM ledgers l WHERE l.run_id = $1"""


class Asked(NamedTuple):
    """A row that is yet to be told which world's run it is for."""

    run: str
    row: TurnArguments

    def of(self, runs: Mapping[str, UUID]) -> TurnArguments:
        return self.row._replace(run=runs[self.run])


def asked_anew(choice: random.Random) -> Asked:
    spent = choice.choice([0, 20, 90])
    reserves = choice.random() < 0.7
    return Asked(
        choice.choice(list(BUDGETS)),
        TurnArguments(
            run=UUID(int=0),
            stage=choice.choice([*STAGES, *STAGES, NEVER_OPENED]),
            attempt=choice.choice([1, 2, 2, 3]),
            agent=choice.choice(["a", "b"]),
            ordinal=choice.randrange(9),
            kind="model",
            step="act",
            digest=choice.choice(["d1", "d2"]),
            body=choice.randbytes(5),
            model_calls=1,
            tool_calls=choice.randrange(2),
            input_tokens=spent,
            output_tokens=spent // 2,
            cost_microusd=spent // 3,
            released_tokens=choice.choice([0, 30]),
            released_cost=choice.choice([0, 10]),
            next_tokens=choice.choice([0, 40, 300]) if reserves else None,
            next_cost=choice.choice([0, 20, 120]) if reserves else None,
            event="model_call",
            payload='{"step": "act"}',
        ),
    )


def batch_of(choice: random.Random, sent: list[Asked]) -> list[Asked]:
    """New rows, rows of earlier batches, and now and then a row of this one again."""
    batch: list[Asked] = []
    for _ in range(choice.randint(2, LARGEST)):
        again = [*sent[-20:], *(batch if choice.random() < 0.1 else ())]
        batch.append(choice.choice(again) if again and choice.random() < 0.25 else asked_anew(choice))
    return batch


async def world(pool: asyncpg.Pool, new_run: NewRun, choice: random.Random) -> dict[str, UUID]:
    runs = {name: await new_run(budget) for name, budget in BUDGETS.items()}
    await pool.execute(RUNNING_SINCE, runs["out of time"])
    for run in runs.values():
        for stage in STAGES:
            await pool.execute(STAGE, run, stage, choice.choice([1, 2, 2]), choice.random() < 0.2)
    return runs


async def something_happens(pool: asyncpg.Pool, run: UUID, choice: random.Random) -> None:
    """What may come between two batches: a stage is opened again, the reader wishes something, the schema is upgraded."""
    stage, control = choice.choice(STAGES), choice.choice(["none", "none", "pause", "cancel"])
    await pool.execute("UPDATE stages SET attempt = attempt + 1 WHERE run_id = $1 AND stage = $2", run, stage)
    await pool.execute("UPDATE ledgers SET control = $2 WHERE run_id = $1", run, control)
    if choice.random() < 0.3:
        await pool.execute(AGED, run)


async def one_by_one(pool: asyncpg.Pool, rows: Sequence[TurnArguments]) -> list[tuple[Any, ...]]:
    async with pool.acquire() as connection, connection.transaction():
        return [tuple((await connection.fetch(STORE_TURN, *row))[0]) for row in rows]


async def record(pool: asyncpg.Pool, runs: Mapping[str, UUID]) -> list[asyncpg.Record | None]:
    return [await pool.fetchrow(RECORD, run) for run in runs.values()]


class Counting:
    """The pool, and how many batches went through whole or were refused."""

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool
        self.whole = self.refused = 0

    async def fetch(self, query: str, *args: Any) -> list[asyncpg.Record]:
        try:
            rows: list[asyncpg.Record] = await self._pool.fetch(query, *args)
        except asyncpg.UniqueViolationError:
            self.refused += 1
            raise
        self.whole += query == STORE_TURNS
        return rows


async def test_turns_together_mean_what_they_mean_one_by_one(pool: asyncpg.Pool, new_run: NewRun) -> None:
    counting = Counting(pool)
    writer, halts = TurnWriter(counting), set[str | None]()  # type: ignore[arg-type]
    for seed in range(WORLDS):
        choice = random.Random(seed)
        apart, together = [await world(pool, new_run, random.Random(seed)) for _ in range(2)]
        sent: list[Asked] = []
        for _ in range(BATCHES):
            batch = batch_of(choice, sent)
            sent += batch
            expected = await one_by_one(pool, [asked.of(apart) for asked in batch])
            found = await asyncio.gather(*(writer.store(asked.of(together)) for asked in batch))
            assert [tuple(row) for row in found] == expected
            halts |= {row["halt"] for row in found}
            name, luck = choice.choice(list(BUDGETS)), choice.random()
            for runs in (apart, together):
                await something_happens(pool, runs[name], random.Random(luck))
        assert await record(pool, together) == await record(pool, apart)
    assert halts == {None, "none", "budget", "dropped", "pause", "cancel", "superseded"}
    assert counting.whole > WORLDS * BATCHES / 2
    assert counting.refused > 0
