"""`python -m bench.costs`: count what a report costs without a clock: calls of functions, statements, bytes, encodings, tokens.

The database, the workflow server and the model stub are real processes; the worker and an index of the default corpus run in this
one. Small stand-ins replace the weights of the encoder and the rater: what they are asked for is counted, not how well they do.
Figures are means of one report of each form of question, after another one that fills the caches. `--functions N` names the costliest.
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from unittest.mock import patch
from uuid import UUID

import asyncpg
import numpy as np
from temporalio.client import Client

from app.accounts.service.bootstrap import ensure_local_owner
from app.database.engine import connect
from app.database.migrate import upgrade
from app.domain.query import Effort, ResearchQuery
from app.domain.trajectory import Turn
from app.runs.service.runs import Runs
from app.runs.service.temporal_gateway import TemporalGateway
from app.runs.service.temporal_gateway import connect as connect_temporal
from app.runs.storage.stored_turns import list_turns
from app.settings import ClaimGrader
from bench.call_counts import CallCounter, describe_function
from bench.costs_index import CountedIndex, open_counted_index
from bench.questions import FORMS, TOPICS, make_question
from bench.result import print_result
from bench.stack import ROOT, ModelStubProcess, start_model_stub
from tests.support.accounts import HOME_KEY, act_as_home
from tests.support.stack import running_postgres, running_temporal
from workflows.agents.brief import BRIEF
from workflows.agents.codec import SchemaCodec
from workflows.agents.model_driven import choose_agents
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.durable.worker import run_worker
from workflows.durable.workshop import Workshop
from workflows.prompts.library import PromptLibrary

WARM = 900
POLL = timedelta(milliseconds=20)
OWN = tuple(str(ROOT / package) + "/" for package in ("app", "workflows", "retrieval/language"))
"""What a worker runs of ours; the index is another process's."""
SIZES = """SELECT format('SELECT coalesce(sum(octet_length(t::text)), 0) FROM %I t', relname) FROM pg_class
           WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"""


class Statements:
    """The number of statements that this process sent to the database."""

    def __init__(self) -> None:
        self.count = 0

    async def watch(self, connection: asyncpg.Connection) -> None:
        """Count the statements of a connection from now on."""
        connection.add_query_logger(self._note)

    def _note(self, _: object) -> None:
        self.count += 1


class CountedProduct:
    """A product whose costs are counted."""

    def __init__(self, database: asyncpg.Pool, runs: Runs, index: CountedIndex, statements: Statements) -> None:
        self._database, self._runs, self._index, self._statements = database, runs, index, statements
        self.calls = CallCounter(lambda file: file.startswith(OWN))

    async def research(self, number: int) -> Counter[str]:
        """Write one report, and return its costs by name."""
        stored, sent = await self._measure_stored(), self._statements.count
        self._index.asked.clear()
        before = self.calls.total
        self.calls.start()
        run = await self._runs.create(ResearchQuery(question=make_question(number), effort=Effort.DEEP))
        await self._wait_for(run.id)
        self.calls.stop()
        costs = Counter({"python_calls": self.calls.total - before, "statements": self._statements.count - sent}) + self._index.asked
        costs["bytes_stored"] = await self._measure_stored() - stored
        return costs + count_turns(await list_turns(self._database, run.id))

    async def _wait_for(self, run_id: UUID) -> None:
        # Not by the use case: how often this asks depends on the machine.
        while (row := await self._database.fetchrow("SELECT status, detail FROM runs WHERE id = $1", run_id))["status"] != "completed":
            if row["status"] in ("failed", "cancelled", "budget_reached", "paused"):
                raise RuntimeError(f"the run ended as {row['status']}: {row['detail']}")
            await asyncio.sleep(POLL.total_seconds())

    async def _measure_stored(self) -> int:
        async with self._database.acquire() as connection:
            return sum([await connection.fetchval(row[0]) for row in await connection.fetch(SIZES)])


def count_turns(turns: Sequence[Turn]) -> Counter[str]:
    """Count model and tool calls, and tokens in and out, in all and by the kind of step."""
    counted: Counter[str] = Counter()
    for turn in turns:
        if turn.completion is None:
            counted["tool_calls"] += 1
            continue
        usage = turn.completion.usage
        counted += Counter(model_calls=1, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
        counted[f"tokens_{turn.step}"] += usage.input_tokens + usage.output_tokens
    return counted


@asynccontextmanager
async def open_product(folder: Path, stub: ModelStubProcess, database_url: str, client: Client, address: str) -> AsyncIterator[CountedProduct]:
    """Run a worker in this process."""
    statements = Statements()
    with patch.object(asyncpg, "create_pool", partial(asyncpg.create_pool, init=statements.watch)):
        worker_database = await connect(database_url)
    plain = await connect(database_url)
    endpoint = ModelEndpoint(base_url=stub.base_url, model="stub")
    with open_counted_index(folder / "home") as index:
        async with connect_model(endpoint) as chat:
            shop = Workshop(
                database=worker_database,
                index=index,
                agents=choose_agents(0),
                fallback=BRIEF,
                chat=chat,
                codec=SchemaCodec(),
                prompts=PromptLibrary.load(),
                judge=ClaimGrader.MODEL,
            )
            async with run_worker(client, shop, "counted"):
                yield CountedProduct(plain, Runs(plain, TemporalGateway(address)), index, statements)
    await worker_database.close()
    await plain.close()


async def count(folder: Path, database_url: str, address: str, stub: ModelStubProcess, functions: int) -> dict[str, float]:
    """Return the mean costs of a report."""
    client = await connect_temporal(address)
    async with open_product(folder, stub, database_url, client, address) as product:
        await product.research(WARM)
        product.calls.counts.clear()
        numbers = range(0, len(FORMS) * len(TOPICS), len(TOPICS))
        found = [await product.research(number) for number in numbers]
    for number, costs in zip(numbers, found, strict=True):
        print(make_question(number), dict(costs), flush=True)
    for code, calls in sorted(product.calls.counts.items(), key=lambda item: -item[1])[:functions]:
        print(f"{calls / len(found):12,.0f} {describe_function(code, ROOT)}")
    return {name: sum(costs[name] for costs in found) / len(found) for name in sorted(set().union(*found))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=0, help="how many functions to name, those with most calls first")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rubrica-bench-") as name:
        folder = Path(name)
        with (
            running_postgres(folder) as postgres,
            running_temporal(folder) as temporal,
            start_model_stub(folder / "bill", timedelta(0)) as stub,
        ):
            figures = asyncio.run(_prepare_and_count(folder, postgres, temporal.address, stub, options.functions))
    print_result("costs", figures)


async def _prepare_and_count(folder: Path, postgres: object, address: str, stub: ModelStubProcess, functions: int) -> dict[str, float]:
    await act_as_home(postgres)
    url = await postgres.ensure_database("costs")
    await upgrade(url)
    await ensure_local_owner(url, HOME_KEY)
    return await count(folder, url, address, stub, functions)


if __name__ == "__main__":
    main()
