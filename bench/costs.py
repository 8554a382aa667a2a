"""`python -m bench.costs`: count what a report costs without a clock: calls of functions, statements, bytes, encodings, tokens.

The database, the workflow server and the model stub are real processes; the worker and an index of the default corpus run in this
one. Small stand-ins replace the weights of the encoder and the rater: what they are asked for is counted, not how well they do.
Figures are means of one report of each form of question, after another one that fills the caches; `salvaged_...` are of a report
whose model quotes nothing. `--functions N` names the functions with most calls.
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
from typing import cast
from unittest.mock import patch
from uuid import UUID

import asyncpg

from app.accounts.service.bootstrap import ensure_local_owner
from app.database.engine import connect
from app.database.migrate import upgrade
from app.domain.query import Effort, ResearchQuery
from app.domain.run import RunStatus
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
from infra.local.postgres import LocalPostgres
from retrieval.service.client import IndexClient
from tests.support.accounts import HOME_KEY, act_as_home
from tests.support.stack import running_postgres, running_temporal
from workflows.agents.brief import BRIEF
from workflows.agents.codec import SchemaCodec
from workflows.agents.model_driven import choose_agents
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.chat_models.served_book import OpenModel, ServedModels
from workflows.durable.deployment import become_current
from workflows.durable.worker import build_worker
from workflows.durable.workshop import Workshop
from workflows.prompts.library import PromptLibrary

WARM = 900
SALVAGED = ("python_calls", "encodings", "ratings", "tool_calls")
POLL = timedelta(milliseconds=20)
OWN = tuple(f"{ROOT / package}/" for package in ("app", "workflows", "retrieval/language"))
"""What a worker runs of ours; the index is another process's."""
SIZES = """SELECT format('SELECT coalesce(sum(octet_length(t::text)), 0) FROM %I t', relname) FROM pg_class
           WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"""
STATUS = "SELECT status, detail FROM runs WHERE id = $1"


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
        self.calls = CallCounter(OWN)

    async def research(self, number: int) -> Counter[str]:
        """Write one report, and return its costs by name."""
        stored, sent, called = await self._measure_stored(), self._statements.count, self.calls.total
        self._index.asked.clear()
        self.calls.start()
        run = await self._runs.create(ResearchQuery(question=make_question(number), effort=Effort.DEEP))
        await self._wait_for(run.id)
        self.calls.stop()
        costs = Counter(python_calls=self.calls.total - called, statements=self._statements.count - sent)
        costs["bytes_stored"] = await self._measure_stored() - stored
        return costs + self._index.asked + count_turns(await list_turns(self._database, run.id))

    async def _wait_for(self, run_id: UUID) -> None:
        # Past the use case, whose calls would be counted: how often this asks depends on the machine.
        while True:
            status, detail = await self._database.fetchrow(STATUS, run_id) or (RunStatus.FAILED, "it is gone")
            if status == RunStatus.COMPLETED:
                return
            if RunStatus(status).finished:
                raise RuntimeError(f"the run ended as {status}: {detail}")
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
async def open_product(index: CountedIndex, stub: ModelStubProcess, url: str, address: str) -> AsyncIterator[CountedProduct]:
    """Run a worker in this process."""
    statements = Statements()
    with patch.object(asyncpg, "create_pool", partial(asyncpg.create_pool, init=statements.watch)):
        database = await connect(url)
    async with connect_model(ModelEndpoint(base_url=stub.base_url, model="stub")) as chat, await connect(url) as plain:
        shop = Workshop(
            database=database,
            index=cast(IndexClient, index),
            models=ServedModels(OpenModel(chat, SchemaCodec(), PromptLibrary.load(), choose_agents(0))),
            fallback=BRIEF,
            judge=ClaimGrader.MODEL,
        )
        client, build = await connect_temporal(address), f"counted-{stub.pid}"
        # Without the reconciler, which asks the database by the clock.
        async with build_worker(client, shop, build):
            await become_current(client, build)
            yield CountedProduct(plain, Runs(plain, TemporalGateway(address)), index, statements)
    await database.close()


async def count_costs(folder: Path, postgres: LocalPostgres, address: str, functions: int) -> dict[str, float]:
    """Return the mean costs of a report, and those of one whose model quotes nothing."""
    await act_as_home(postgres)
    url = await postgres.ensure_database("costs")
    await upgrade(url)
    await ensure_local_owner(url, HOME_KEY)
    numbers = range(0, len(FORMS) * len(TOPICS), len(TOPICS))
    with open_counted_index(folder / "home") as index:
        with start_model_stub(folder / "bill", timedelta(0)) as stub:
            async with open_product(index, stub, url, address) as product:
                await product.research(WARM)
                product.calls.counts.clear()
                found = [await product.research(number) for number in numbers]
                for code, calls in sorted(product.calls.counts.items(), key=lambda item: -item[1])[:functions]:
                    print(f"{calls / len(found):12,.0f} {describe_function(code, ROOT)}")
        with start_model_stub(folder / "bill of salvage", timedelta(0), ("--shape", "quotes=0")) as stub:
            async with open_product(index, stub, url, address) as product:
                salvaged = await product.research(WARM + 1)
    means = {name: sum(costs[name] for costs in found) / len(found) for name in sorted(set().union(*found))}
    return means | {f"salvaged_{name}": salvaged[name] for name in SALVAGED}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=0, help="how many functions to name, those with most calls first")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rubrica-bench-") as name:
        folder = Path(name)
        with running_postgres(folder) as postgres, running_temporal(folder) as temporal:
            figures = asyncio.run(count_costs(folder, postgres, temporal.address, options.functions))
    print_result("costs", figures)


if __name__ == "__main__":
    main()
