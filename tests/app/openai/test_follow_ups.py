"""What a client keeps with a response, and responses that follow another, through OpenAI's own client."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from app.accounts.nouns.access import AccessScope
from app.accounts.nouns.api_key import ApiKey
from app.accounts.service.bootstrap import ensure_owner
from app.domain.budget import Usage
from app.domain.revision import FollowUp, TaskStatus
from app.reports.storage import report_tasks
from app.runs.storage.run_log import RunLog
from tests.app.finished_run import URL, make_quote, write_begin, write_end
from tests.app.served_api import ApiClient, InMemoryRuns
from tests.support.accounts import HOME_KEY

MODEL = "minddr-quick"
EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


@pytest.fixture
async def client(api: ApiClient) -> AsyncIterator[openai.AsyncOpenAI]:
    async with client_of(api, str(HOME_KEY)) as made:
        yield made


@pytest.fixture
async def asked(client: openai.AsyncOpenAI, run_log: RunLog, pool: asyncpg.Pool) -> Response:
    """A completed response."""
    made = await client.responses.create(model=MODEL, input="Why tariffs?", background=True, metadata={"team": "财政"})
    await write_begin(run_log, id_of(made))
    await write_end(pool, run_log, id_of(made))
    return made


def client_of(api: ApiClient, key: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{api.address}/openai/v1", api_key=key, max_retries=0)


def id_of(response: Response) -> UUID:
    return UUID(response.id.removeprefix("resp_"))


def strict(response: Response) -> Response:
    return Response.model_validate_json(response.model_dump_json(warnings=False))


def list_questions(workflows: InMemoryRuns, asked: Response) -> list[UUID]:
    """The questions about a response. Those that other tests left waiting are started here too, after a while."""
    return [task for run, task in workflows.tasks if run == id_of(asked)]


async def answer(pool: asyncpg.Pool, workflows: InMemoryRuns, asked: Response) -> None:
    """Answer the question about a response that was asked last, as a worker does."""
    run, task = id_of(asked), list_questions(workflows, asked)[-1]
    quote = make_quote("A tax is a burden.")
    told = FollowUp(body=f"It was called a burden [[{quote.key}]].", quotes=(quote,))
    await report_tasks.finish(pool, run, task, TaskStatus.DONE, answer=told, usage=Usage(input_tokens=7, output_tokens=3))


async def test_metadata_is_kept_and_returned(client: openai.AsyncOpenAI, asked: Response) -> None:
    assert (asked.metadata, asked.store) == ({"team": "财政"}, True)
    found = strict(await client.responses.retrieve(asked.id))
    assert (found.status, found.metadata, found.previous_response_id) == ("completed", {"team": "财政"}, None)
    events = [event async for event in await client.responses.retrieve(asked.id, stream=True)]
    assert events[0].response.metadata == events[-1].response.metadata == {"team": "财政"}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "metadata", [{str(n): "x" for n in range(17)}, {"k" * 65: "x"}, {"k": "x" * 513}, {"": "x"}, {"k": "\x00"}]
)
async def test_metadata_has_limits(client: openai.AsyncOpenAI, metadata: dict[str, str]) -> None:
    with pytest.raises(openai.BadRequestError):
        await client.responses.create(model=MODEL, input="Why?", background=True, metadata=metadata)


async def test_what_is_not_stored_can_neither_be_retrieved_nor_followed(client: openai.AsyncOpenAI, api: ApiClient) -> None:
    with pytest.raises(openai.BadRequestError, match="store"):
        await client.responses.create(model=MODEL, input="Why?", background=True, store=False)
    stream = await client.responses.create(model=MODEL, input="Why?", stream=True, store=False)
    first: Any = await anext(aiter(stream))
    await stream.close()
    assert first.response.store is False
    with pytest.raises(openai.NotFoundError, match="`store` false"):
        await client.responses.retrieve(first.response.id)
    with pytest.raises(openai.NotFoundError, match="`store` false"):
        await client.responses.create(model=MODEL, input="And?", previous_response_id=first.response.id)
    assert (await api.get(f"/v1/runs/{id_of(first.response)}")).status == 200


async def test_a_completion_may_carry_metadata(client: openai.AsyncOpenAI, workflows: InMemoryRuns) -> None:
    messages: Any = [{"role": "user", "content": "Why?"}]
    stream = await client.chat.completions.create(model=MODEL, messages=messages, stream=True, store=True, metadata={"a": "b"})
    await stream.close()
    found = await client.responses.retrieve(f"resp_{workflows.started[-1].run_id.hex}")
    assert found.metadata == {"a": "b"}


async def test_a_response_that_follows_another_is_answered_from_its_evidence(
    client: openai.AsyncOpenAI, asked: Response, pool: asyncpg.Pool, workflows: InMemoryRuns
) -> None:
    more = strict(
        await client.responses.create(
            model=MODEL, input="Who carried it?", previous_response_id=asked.id, background=True, metadata={"n": "2"}
        )
    )
    assert (more.status, more.previous_response_id, more.metadata) == ("queued", asked.id, {"n": "2"})
    assert list_questions(workflows, asked) == [id_of(more)]
    with pytest.raises(openai.ConflictError, match="not completed"):
        await client.responses.create(model=MODEL, input="And?", previous_response_id=more.id)
    await answer(pool, workflows, asked)
    done = strict(await client.responses.retrieve(more.id))
    assert (done.status, done.output_text, done.previous_response_id) == ("completed", "It was called a burden [1].", asked.id)
    [cited] = done.output[0].content[0].annotations  # type: ignore[union-attr]
    assert (cited.url, done.output_text[cited.start_index : cited.end_index]) == (URL, "[1]")  # type: ignore[union-attr]
    assert done.usage is not None
    assert done.usage.total_tokens == 10
    third = await client.responses.create(model=MODEL, input="And?", previous_response_id=more.id, background=True)
    assert list_questions(workflows, asked) == [id_of(more), id_of(third)]
    assert len(workflows.started) == 1, "nothing new is researched"


@pytest.mark.parametrize(("question", "why"), [("", "empty"), (" ?! ", "empty"), ("x" * 2_001, "2001 characters")])
async def test_a_further_question_that_is_none_or_too_long_costs_nothing(
    client: openai.AsyncOpenAI, asked: Response, workflows: InMemoryRuns, question: str, why: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=why):
        await client.responses.create(model=MODEL, input=question, previous_response_id=asked.id, background=True)
    assert list_questions(workflows, asked) == []


async def test_a_further_answer_is_streamed_and_waited_for(
    client: openai.AsyncOpenAI, asked: Response, pool: asyncpg.Pool, workflows: InMemoryRuns
) -> None:
    async def answer_soon(number: int) -> None:
        while len(list_questions(workflows, asked)) < number:
            await asyncio.sleep(0.01)
        await answer(pool, workflows, asked)

    waiting = asyncio.create_task(answer_soon(1))
    whole = await client.responses.create(model=MODEL, input="Who?", previous_response_id=asked.id)
    await waiting
    assert (whole.status, whole.output_text) == ("completed", "It was called a burden [1].")
    waiting = asyncio.create_task(answer_soon(2))
    stream = await client.responses.create(model=MODEL, input="Who?", previous_response_id=asked.id, stream=True)
    events: list[Any] = [event async for event in stream]
    await waiting
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert [events[n].type for n in (0, 1, -1)] == ["response.created", "response.queued", "response.completed"]
    for event in events:
        EVENTS.validate_json(event.model_dump_json(warnings=False))
    name = events[0].response.id
    assert events[-1].response.model_dump() == (await client.responses.retrieve(name)).model_dump()
    rest = [event async for event in await client.responses.retrieve(name, stream=True, starting_after=2)]
    assert [event.sequence_number for event in rest] == list(range(3, len(events)))


async def test_a_further_question_that_failed_says_why(
    client: openai.AsyncOpenAI, asked: Response, pool: asyncpg.Pool, workflows: InMemoryRuns
) -> None:
    more = await client.responses.create(model=MODEL, input="Who?", previous_response_id=asked.id, background=True)
    [question] = list_questions(workflows, asked)
    await report_tasks.finish(pool, id_of(asked), question, TaskStatus.FAILED, "the model refused")
    found = strict(await client.responses.retrieve(more.id))
    assert found.error is not None
    assert (found.status, found.error.message) == ("failed", "the model refused")
    with pytest.raises(openai.ConflictError, match="not completed"):
        await client.responses.create(model=MODEL, input="And?", previous_response_id=more.id)


async def test_what_cannot_be_followed_says_why(
    client: openai.AsyncOpenAI, api: ApiClient, asked: Response, pool: asyncpg.Pool
) -> None:
    running = await client.responses.create(model=MODEL, input="Why?", background=True)
    follow: dict[str, Any] = {"model": MODEL, "input": "And?"}
    with pytest.raises(openai.ConflictError, match="not completed"):
        await client.responses.create(**follow, previous_response_id=running.id)
    for unknown in ("resp_1", f"resp_{uuid4().hex}"):
        with pytest.raises(openai.NotFoundError):
            await client.responses.create(**follow, previous_response_id=unknown)
    with pytest.raises(openai.BadRequestError, match="stands alone"):
        await client.responses.create(**follow, previous_response_id=asked.id, instructions="Be brief.")
    stranger = ApiKey.new()
    async with pool.acquire() as connection:
        await ensure_owner(connection, stranger, uuid4(), uuid4(), "Theirs", f"{uuid4()}@example.org")
    async with client_of(api, str(stranger)) as theirs:
        with pytest.raises(openai.NotFoundError):
            await theirs.responses.create(**follow, previous_response_id=asked.id)
        with pytest.raises(openai.NotFoundError):
            await theirs.responses.retrieve(asked.id)
    scopes = [AccessScope.RUNS_READ, AccessScope.RUNS_WRITE, AccessScope.REPORTS_READ]
    made = (await api.post("/v1/keys", {"name": "k", "scopes": scopes})).json
    async with client_of(api, made["key"]) as narrow:
        with pytest.raises(openai.PermissionDeniedError, match="reports:write"):
            await narrow.responses.create(**follow, previous_response_id=asked.id)
