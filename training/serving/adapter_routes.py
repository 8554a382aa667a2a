"""The routes of the list of models and of adapters that come and go while the server runs."""

import asyncio
from pathlib import Path

from aiohttp import web

from retrieval.service.json_http import answer_json
from training.serving.requests import LoadBody, UnloadBody, read_request
from training.serving.served_models import ServedModels


class AdapterRoutes:
    """`GET /v1/models`, `POST /v1/load_lora_adapter` and `POST /v1/unload_lora_adapter`.

    What a caller began is brought to its end, though the caller goes away.
    """

    def __init__(self, models: ServedModels) -> None:
        self._models = models

    def list_routes(self) -> list[web.RouteDef]:
        """Return the routes with their handlers."""
        return [
            web.get("/v1/models", self.list_models),
            web.post("/v1/load_lora_adapter", self.load),
            web.post("/v1/unload_lora_adapter", self.unload),
        ]

    async def list_models(self, _: web.Request) -> web.Response:
        """List the base and its adapters."""
        return answer_json({"object": "list", "data": self._models.describe_all()})

    async def load(self, request: web.Request) -> web.Response:
        """Load an adapter: `{"lora_name", "lora_path"}`."""
        body = await read_request(request, LoadBody)
        await asyncio.shield(self._models.load(body.lora_name, Path(body.lora_path)))
        return web.Response(text=f"Success: LoRA adapter '{body.lora_name}' added successfully.")

    async def unload(self, request: web.Request) -> web.Response:
        """Take an adapter out: `{"lora_name"}`. The answer comes when its last request has ended."""
        body = await read_request(request, UnloadBody)
        await asyncio.shield(self._models.unload(body.lora_name))
        return web.Response(text=f"Success: LoRA adapter '{body.lora_name}' removed successfully.")
