"""Asks the API through the product's client, which waits out every restart and asks again ten times a second."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

from rubrica_client import AsyncClient, NewRun, Patience, runs
from rubrica_client.models import Run, RunEvent

TENTH = timedelta(milliseconds=100)
PATIENCE = Patience(total=timedelta(seconds=120), first_pause=TENTH, longest_pause=TENTH)


def open_client(api: str, key: str) -> AsyncClient:
    """Return a client of the API at this address."""
    return AsyncClient(api, key, patience=PATIENCE, trust_env=False)


async def ask(client: AsyncClient, question: str, **options: Any) -> str:
    """Create a run, only one however often it is sent; return its id."""
    return (await client.send(runs.create(NewRun(question=question, **options)))).id


async def watch(client: AsyncClient, run_id: str) -> Run:
    """Watch a run to its end; return the run."""
    async for _ in client.events(run_id):
        pass
    return await client.send(runs.get(run_id))


def count_missing(events: Sequence[RunEvent]) -> int:
    """Count the numbers of a log that its watcher has not seen; it must be 0."""
    numbers = [0, *(event.seq for event in events)]
    return sum(after - before - 1 for before, after in pairwise(numbers))
