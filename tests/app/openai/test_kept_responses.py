"""What is kept of a response: what it was asked with, and its deletion, through OpenAI's own client."""

from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import asyncpg
import openai
import pytest
from openai.types.responses import Response

from app.accounts.nouns.api_key import ApiKey
from app.accounts.service.bootstrap import ensure_owner
from app.runs.storage.run_log import RunLog
from tests.app.finished_run import write_begin, write_end
from tests.app.served_api import ApiClient
from tests.support.accounts import HOME_KEY

MODEL = "minddr-quick"
TALK = [
    {"role": "user", "content": "My name is Ada."},
    {"role": "assistant", "content": "Good day, Ada."},
    {"role": "user", "content": "Who taxed wool?"},
]


@pytest.fixture
async def client(api: ApiClient) -> AsyncIterator[openai.AsyncOpenAI]:
    async with client_of(api, str(HOME_KEY)) as made:
        yield made


def client_of(api: ApiClient, key: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{api.address}/openai/v1", api_key=key, max_retries=0)


async def finish(asked: Response, run_log: RunLog, pool: asyncpg.Pool) -> None:
    run_id = UUID(asked.id.removeprefix("resp_"))
    await write_begin(run_log, run_id)
    await write_end(pool, run_log, run_id)


async def test_what_a_response_was_asked_with_comes_in_pages(client: openai.AsyncOpenAI) -> None:
    asked = await client.responses.create(model=MODEL, input=TALK, instructions="Be brief.", background=True)  # type: ignore[arg-type]
    found = [item async for item in client.responses.input_items.list(asked.id, order="asc", limit=1)]
    assert [item.role for item in found] == ["developer", "user"]  # type: ignore[union-attr]
    texts = [item.content[0].text for item in found]  # type: ignore[union-attr, index]
    assert "Good day, Ada." in texts[0]
    assert texts[1] == "Who taxed wool?"
    newest = await client.responses.input_items.list(asked.id)
    assert [item.id for item in newest.data] == [found[1].id, found[0].id]


async def test_a_finished_response_is_deleted_with_its_run(
    client: openai.AsyncOpenAI, api: ApiClient, run_log: RunLog, pool: asyncpg.Pool
) -> None:
    asked = await client.responses.create(model=MODEL, input="Who taxed wool?", background=True)
    with pytest.raises(openai.ConflictError, match="cancel it first"):
        await client.responses.delete(asked.id)
    await finish(asked, run_log, pool)
    reply = await api.send("DELETE", f"/openai/v1/responses/{asked.id}")
    assert (reply.status, reply.json) == (200, {"id": asked.id, "object": "response", "deleted": True})
    with pytest.raises(openai.NotFoundError):
        await client.responses.retrieve(asked.id)
    assert (await api.get(f"/v1/runs/{asked.id.removeprefix('resp_')}")).status == 404


async def test_a_further_question_goes_with_its_response(client: openai.AsyncOpenAI, run_log: RunLog, pool: asyncpg.Pool) -> None:
    asked = await client.responses.create(model=MODEL, input="Who taxed wool?", background=True)
    await finish(asked, run_log, pool)
    more = await client.responses.create(model=MODEL, input="And linen?", previous_response_id=asked.id, background=True)
    [item] = (await client.responses.input_items.list(more.id)).data
    assert item.content[0].text == "And linen?"  # type: ignore[union-attr, index]
    with pytest.raises(openai.ConflictError, match=asked.id):
        await client.responses.delete(more.id)


async def test_another_organisation_finds_nothing(client: openai.AsyncOpenAI, api: ApiClient, pool: asyncpg.Pool) -> None:
    asked = await client.responses.create(model=MODEL, input="Who taxed wool?", background=True)
    stranger = ApiKey.new()
    async with pool.acquire() as connection:
        await ensure_owner(connection, stranger, uuid4(), uuid4(), "Theirs", f"{uuid4()}@example.org")
    async with client_of(api, str(stranger)) as theirs:
        with pytest.raises(openai.NotFoundError):
            await theirs.responses.input_items.list(asked.id)
        with pytest.raises(openai.NotFoundError):
            await theirs.responses.delete(asked.id)
