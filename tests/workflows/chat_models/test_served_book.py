"""The book of served models: each is connected once, as its record says, and no key goes to another server."""

import asyncio
import contextlib
from collections.abc import Mapping

import asyncpg
import pytest

from app.database.engine import connect
from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.errors import ModelGone
from app.domain.served_models import Notation, ServedModel
from app.models.storage import served
from app.settings import read_settings
from tests.support.outside_stub import answer_with, serve_outside
from workflows.agents.codec import SchemaCodec, TagCodec
from workflows.agents.model_driven import MODEL_DRIVEN, WRITING_ALONE
from workflows.durable.served_setup import make_endpoint, open_served_models

HERE = "http://127.0.0.1:9/v1"
GIVEN = {"RUBRICA_LLM_BASE_URL": HERE, "RUBRICA_LLM_MODEL": "main", "RUBRICA_LLM_API_KEY": "k1", "RUBRICA_LLM_CONTEXT": "32000"}
REQUEST = ChatRequest(messages=(Message(role=ChatRole.USER, content="Why?"),))


@pytest.mark.parametrize(
    ("record", "key"),
    [
        ({"address": HERE, "key_setting": "RUBRICA_LLM_API_KEY"}, "k1"),
        ({"address": "http://elsewhere:9/v1", "key_setting": "RUBRICA_LLM_API_KEY"}, ""),
        ({"address": "http://elsewhere:9/v1", "key_setting": "TRAINED_API_KEY"}, "k2"),
        ({"address": HERE, "key_setting": "OTHER_API_KEY"}, ""),
        ({"address": HERE}, ""),
    ],
)
def test_the_settings_key_goes_to_the_settings_server_alone(record: Mapping[str, str], key: str) -> None:
    model = ServedModel(name="m", input_price=1, **record)
    endpoint = make_endpoint(model, read_settings(GIVEN), {"TRAINED_API_KEY": "k2"})
    assert (endpoint.api_key, endpoint.base_url, endpoint.prices.cost_of(5, 0)) == (key, record["address"], 5)


async def test_a_model_is_connected_once_as_its_record_says(postgres_url: str) -> None:
    said = {"choices": [{"message": {"content": "Because."}, "finish_reason": "stop"}], "usage": {}}
    database = await connect(postgres_url)
    async with serve_outside(answer_with(said)) as server, contextlib.AsyncExitStack() as stack:
        trained = ServedModel(
            name="writer-v1", address=server.url, notation=Notation.TAGS, context=8_192, temperature=0.6, top_p=0.9
        )
        await served.add(database, trained)
        models = await open_served_models(read_settings(GIVEN | {"RUBRICA_LLM_ALTERNATIVES": "small=1/2"}), database, stack, {})
        assert (models.main.name, models.main.codec, models.main.agents) == ("main", SchemaCodec(), MODEL_DRIVEN)
        assert await models.open("") is models.main is await models.open("main")
        one, again = await asyncio.gather(models.open("writer-v1"), models.open("writer-v1"))
        assert one is again
        assert (one.codec, one.agents, one.context_tokens) == (TagCodec(short=True), WRITING_ALONE, 8_192)
        await one.chat.complete(REQUEST)
        body = server.seen[-1].body
        assert (body["model"], body["temperature"], body["top_p"]) == ("writer-v1", 0.6, 0.9)
        small = await models.open("small")
        assert (small.context_tokens, small.prices, models.find_known("small").prices) == (32_000, small.prices, small.prices)
    await database.close()


async def test_a_model_that_is_unknown_or_gone_says_so_when_it_is_asked(postgres_url: str) -> None:
    database: asyncpg.Pool = await connect(postgres_url)
    async with contextlib.AsyncExitStack() as stack:
        models = await open_served_models(read_settings(GIVEN), database, stack, {})
        await served.add(database, ServedModel(name="v9", address=HERE))
        await served.mark_gone(database, "v9")
        for name in ("v9", "never-there"):
            assert await models.find_open(name) is None
            with pytest.raises(ModelGone, match=name):
                await (await models.open(name)).chat.complete(REQUEST)
        await served.add(database, ServedModel(name="v9", address=HERE))  # it is back
        assert await models.find_open("v9") is not None
        await served.mark_gone(database, "v9")  # as when its version is withdrawn while this worker asks it
        with pytest.raises(ModelGone, match="v9"):
            await (await models.open("v9")).chat.complete(REQUEST)
    await database.close()
