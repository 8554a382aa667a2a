"""Who waits for an answer over OpenAI's API waits through outages: an answer that breaks off is asked for, and paid, again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import asyncpg
import openai
import pytest

from app.http.services import Services, open_services
from app.runs.storage.run_log import RunLog
from tests.app.finished_run import write_begin, write_end
from tests.app.openai.test_chat import ASKED, MODEL, started
from tests.app.openai.test_follow_ups import answer, list_questions
from tests.app.served_api import InMemoryRuns, serve_api
from tests.support.accounts import HOME_KEY
from tests.support.lossy_proxy import LossyProxy

RUN_READ, TASK_READ = "r.plan, r.created_at", "FROM report_tasks"


@pytest.fixture
def line(api_urls: tuple[str, str]) -> LossyProxy:
    return LossyProxy(api_urls[0])


@pytest.fixture
async def services(line: LossyProxy, api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[Services]:
    """An API whose requests reach the database over a line that can be cut."""
    async with line.serve_url() as url, open_services(url, api_urls[1], workflows) as opened:
        yield opened


@pytest.fixture
async def client(services: Services) -> AsyncIterator[openai.AsyncOpenAI]:
    """OpenAI's client as people use it: it repeats a request whose answer broke off."""
    async with serve_api(services) as api, openai.AsyncOpenAI(base_url=f"{api.address}/openai/v1", api_key=str(HOME_KEY)) as made:
        yield made


async def end_run_in_outage(line: LossyProxy, services: Services, pool: asyncpg.Pool, log: RunLog, run_id: UUID) -> None:
    while not services.live.watched_count:
        await asyncio.sleep(0.01)
    with line.lose_answers_to(RUN_READ):
        await write_begin(log, run_id)
        await write_end(pool, log, run_id)
        while not line.lost:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_run_is_asked_once(
    client: openai.AsyncOpenAI,
    services: Services,
    line: LossyProxy,
    run_log: RunLog,
    pool: asyncpg.Pool,
    workflows: InMemoryRuns,
    stream: bool,
) -> None:
    async def read_answer() -> str | None:
        made: Any = await client.chat.completions.create(model=MODEL, messages=ASKED, stream=stream)
        if not stream:
            return str(made.choices[0].message.content)
        return "".join([part.choices[0].delta.content or "" async for part in made])

    waiting = asyncio.create_task(read_answer())
    await end_run_in_outage(line, services, pool, run_log, await started(workflows))
    assert "They weighed" in str(await waiting)
    assert len(workflows.started) == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_a_further_question_is_asked_once(
    client: openai.AsyncOpenAI, line: LossyProxy, run_log: RunLog, pool: asyncpg.Pool, workflows: InMemoryRuns, stream: bool
) -> None:
    first = await client.responses.create(model=MODEL, input="Why tariffs?", background=True)
    await write_end(pool, run_log, UUID(first.id.removeprefix("resp_")))

    begun = client.responses.with_streaming_response.create(
        model=MODEL, input="Who?", previous_response_id=first.id, stream=stream
    )
    async with begun as waited:
        with line.lose_answers_to(TASK_READ):
            while not line.lost:
                await asyncio.sleep(0.01)
        await answer(pool, workflows, first)
        made: Any = await waited.parse()
        done = [event async for event in made][-1].response if stream else made
    assert done.output_text == "It was called a burden [1]."
    assert len(list_questions(workflows, first)) == 1


@pytest.mark.parametrize("stream", [False, True])
async def test_a_restart_ends_the_wait_for_a_further_question(
    client: openai.AsyncOpenAI, services: Services, run_log: RunLog, pool: asyncpg.Pool, workflows: InMemoryRuns, stream: bool
) -> None:
    first = await client.responses.create(model=MODEL, input="Why tariffs?", background=True)
    await write_end(pool, run_log, UUID(first.id.removeprefix("resp_")))
    services.live.stop()
    made: Any = await client.responses.create(model=MODEL, input="Who?", previous_response_id=first.id, stream=stream)
    told = [event async for event in made][-1].response if stream else made
    assert told.status == "queued"
    await answer(pool, workflows, first)
    assert (await client.responses.retrieve(told.id)).output_text == "It was called a burden [1]."
    assert len(list_questions(workflows, first)) == 1
