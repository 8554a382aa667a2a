"""An MLflow server, as far as its registry of models goes, over a real socket."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

API = "/api/2.0/mlflow/"


class FakeMlflow:
    """Keeps models and versions, and answers as MLflow's REST API does. One page of a search has one version."""

    def __init__(self) -> None:
        self.models: dict[str, dict[str, Any]] = {}
        self.versions: list[dict[str, Any]] = []
        self.tokens: set[str] = set()
        self.away = False
        self.address = ""

    async def create_model(self, request: web.Request) -> web.Response:
        told = await request.json()
        if told["name"] in self.models:
            return refuse("RESOURCE_ALREADY_EXISTS", f"Registered Model (name={told['name']}) already exists.")
        self.models[told["name"]] = told
        return web.json_response({"registered_model": told})

    async def create_version(self, request: web.Request) -> web.Response:
        told = await request.json()
        if told["name"] not in self.models:
            return refuse("RESOURCE_DOES_NOT_EXIST", "no such model", 404)
        made = told | {"version": str(1 + sum(each["name"] == told["name"] for each in self.versions))}
        self.versions.append(made)
        return web.json_response({"model_version": made})

    async def search(self, request: web.Request) -> web.Response:
        name = request.query["filter"].removeprefix("name = '").removesuffix("'")
        found = [each for each in self.versions if each["name"] == name]
        at = int(request.query.get("page_token", "0"))
        following = {"next_page_token": str(at + 1)} if at + 1 < len(found) else {}
        return web.json_response({"model_versions": found[at : at + 1], **following})

    async def set_tag(self, request: web.Request) -> web.Response:
        told = await request.json()
        tags = self._get(told)["tags"]
        tags[:] = [each for each in tags if each["key"] != told["key"]] + [{"key": told["key"], "value": told["value"]}]
        return web.json_response({})

    async def update(self, request: web.Request) -> web.Response:
        told = await request.json()
        self._get(told)["description"] = told["description"]
        return web.json_response({})

    def tags_of(self, number: int) -> dict[str, str]:
        return {each["key"]: each["value"] for each in self.versions[number - 1]["tags"]}

    def _get(self, told: dict[str, Any]) -> dict[str, Any]:
        return next(each for each in self.versions if (each["name"], each["version"]) == (told["name"], told["version"]))


def refuse(code: str, message: str, status: int = 400) -> web.Response:
    return web.json_response({"error_code": code, "message": message}, status=status)


@asynccontextmanager
async def serve_mlflow() -> AsyncIterator[FakeMlflow]:
    """Serve it on a free port."""
    fake = FakeMlflow()

    @web.middleware
    async def note(request: web.Request, handler: Any) -> web.StreamResponse:
        fake.tokens.add(request.headers.get("Authorization", ""))
        if fake.away:
            return web.Response(text="<html>bad gateway</html>", status=502)
        answer: web.StreamResponse = await handler(request)
        return answer

    app = web.Application(middlewares=[note])
    app.router.add_post(f"{API}registered-models/create", fake.create_model)
    app.router.add_post(f"{API}model-versions/create", fake.create_version)
    app.router.add_get(f"{API}model-versions/search", fake.search)
    app.router.add_post(f"{API}model-versions/set-tag", fake.set_tag)
    app.router.add_patch(f"{API}model-versions/update", fake.update)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    fake.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield fake
    await runner.cleanup()
