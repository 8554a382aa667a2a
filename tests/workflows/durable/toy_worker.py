"""A worker process to kill: `python -m tests.workflows.durable.toy_worker DATABASE TEMPORAL MODEL BUILD`."""

import asyncio
import sys

from app.database.engine import connect
from app.runs.service.temporal_gateway import connect as connect_temporal
from tests.workflows.durable.toys import ToyIndex, make_quoting_toys, make_toy_agents
from workflows.agents.codec import SchemaCodec
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.chat_models.served_book import OpenModel, ServedModels
from workflows.durable.worker import run_worker
from workflows.durable.workshop import Workshop
from workflows.prompts.library import PromptLibrary


async def main(database_url: str, temporal: str, model_url: str, build: str) -> None:
    client = await connect_temporal(temporal)
    async with connect_model(ModelEndpoint(base_url=model_url, model="stub")) as model:
        shop = Workshop(
            database=await connect(database_url),
            index=ToyIndex(),
            models=ServedModels(OpenModel(model, SchemaCodec(), PromptLibrary({}), make_toy_agents())),
            fallback=make_quoting_toys(),
        )
        async with run_worker(client, shop, build):
            print("ready", flush=True)
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
