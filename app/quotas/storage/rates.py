"""Buckets of tokens, shared by every process. For the trusted connection."""

from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple

from app.database.engine import Executor, translate_outages

TAKE = "SELECT * FROM take_token($1, $2, $3)"
SWEEP = "DELETE FROM rate_buckets WHERE full_at < now()"
# Names of buckets are words: who is counted stands among them as one.
FILL = "DELETE FROM rate_buckets WHERE string_to_array(subject, ' ') && $1::text[]"


class TokenTaking(NamedTuple):
    """What came of asking for a token: `remaining` now, `wait` until there is one, `full_in` until all are there again."""

    granted: bool
    remaining: int
    wait: timedelta
    full_in: timedelta


async def take(database: Executor, subject: str, every: timedelta, burst: int) -> TokenTaking:
    """Ask for a token of the bucket named `subject`, which holds `burst` and gets one more `every` so often."""
    async with translate_outages():
        row = await database.fetchrow(TAKE, subject, every, burst)
    assert row is not None
    return TokenTaking(*row)


async def sweep(database: Executor) -> None:
    """Forget full buckets: they are as good as none."""
    async with translate_outages():
        await database.execute(SWEEP)


async def fill(database: Executor, counted: Collection[str]) -> int:
    """Fill all buckets in whose names one of these words stands; return how many they are."""
    async with translate_outages():
        done = await database.execute(FILL, list(counted))
    return int(done.rpartition(" ")[2])
