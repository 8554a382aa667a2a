"""Health, the OpenAPI document, starting and stopping."""

import asyncio
import io
import re
from pathlib import Path
from uuid import UUID

import aiohttp
import asyncpg
import jsonschema
import orjson
import pytest

from app.database.engine import connect
from app.disk import Disks
from app.domain.errors import SetupError
from app.http.services import Services, open_services
from app.runs.storage.run_log import RunLog
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api


async def test_health_tells_each_part(api: ApiClient, workflows: InMemoryRuns) -> None:
    while not (await api.get("/health")).json["ok"]:
        await asyncio.sleep(0.02)
    workflows.away = True
    reply = await api.get("/health")
    assert reply.status == 503
    assert {name: part["ok"] for name, part in reply.json["parts"].items()} == {
        "database": True,
        "workflows": False,
        "workers": False,
        "events": True,
        "disk": True,
    }


async def test_a_full_disk_is_told_and_nothing_new_begins(
    api_urls: tuple[str, str], workflows: InMemoryRuns, tmp_path: Path
) -> None:
    disks = Disks({"home": tmp_path / "made" / "later"}, least=2**80)
    async with open_services(*api_urls, workflows) as services, serve_api(services) as client:
        run = await client.ask()
    async with (
        open_services(*api_urls, workflows, disks=disks, retrieval_url="unix:/nowhere") as services,
        serve_api(services) as client,
    ):
        while not (health := await client.get("/health")).json["parts"]["events"]["ok"]:
            await asyncio.sleep(0.02)
        assert (health.status, health.json["ok"], health.json["parts"]["disk"]["ok"]) == (200, False, False)
        assert health.json["parts"]["disk"]["detail"].startswith("the disk of the home folder is full")
        assert (await client.get(f"/v1/runs/{run}")).status == 200
        collection = (await client.post("/v1/collections", {"name": "Papers"})).json["id"]
        form = _file()
        for refused in (
            await client.post("/v1/runs", {"question": "Who wrote it?"}),
            await client.send("POST", f"/v1/collections/{collection}/documents", data=form),
        ):
            assert refused.is_problem(503)
            assert "the disk of the home folder is full" in refused.json["detail"]


async def test_a_documents_folder_that_cannot_be_written_is_told(
    api_urls: tuple[str, str], workflows: InMemoryRuns, tmp_path: Path
) -> None:
    (tmp_path / "documents").write_text("in the way")
    async with (
        open_services(*api_urls, workflows, documents=tmp_path / "documents", retrieval_url="unix:/nowhere") as services,
        serve_api(services) as client,
    ):
        collection = (await client.post("/v1/collections", {"name": "More papers"})).json["id"]
        form = _file()
        refused = await client.send("POST", f"/v1/collections/{collection}/documents", data=form)
    assert refused.is_problem(503)
    assert "cannot be stored now (Not a directory)" in refused.json["detail"]


async def test_schemas_are_whole_and_their_examples_fit(api: ApiClient) -> None:
    document = (await api.get("/schema/openapi.json")).json
    schemas = document["components"]["schemas"]
    assert schemas["NewRun"]["additionalProperties"] is False
    assert schemas["Subtask"]["properties"]["id"]["pattern"]
    referred = set(re.findall(r"#/components/schemas/(\w+)", orjson.dumps(document).decode()))
    assert referred <= set(schemas)
    for name, schema in schemas.items():
        assert schema.get("description"), name
        for example in schema.get("examples", ()):
            jsonschema.validate(
                example, {**schema, "components": document["components"]}, format_checker=jsonschema.FormatChecker()
            )


async def test_stopping_ends_open_streams_politely(services: Services) -> None:
    async with serve_api(services) as client:
        run = await client.ask()
        seen: list[dict[str, str]] = []
        watching = asyncio.create_task(_watch(client, run, seen))
        while len(seen) < 2:
            await asyncio.sleep(0.02)
    await watching
    assert len(seen) == 2


async def test_runs_left_behind_by_a_failed_start_are_started(
    api_urls: tuple[str, str], pool: asyncpg.Pool, workflows: InMemoryRuns, run_log: RunLog
) -> None:
    workflows.away = True
    async with open_services(*api_urls, workflows) as services, serve_api(services) as client:
        left, cancelled = UUID(await client.ask()), UUID(await client.ask())
        workflows.away = False
        await client.post(f"/v1/runs/{cancelled}/cancel")
        await pool.execute("UPDATE runs SET created_at = created_at - interval '1 minute'")
    async with open_services(*api_urls, workflows):
        while left not in workflows.open:
            await asyncio.sleep(0.02)
    assert cancelled not in workflows.open


async def test_an_older_schema_is_refused_with_what_to_do(empty_postgres_url: str, workflows: InMemoryRuns) -> None:
    with pytest.raises(SetupError, match="rubrica migrate"):
        async with open_services(empty_postgres_url, empty_postgres_url, workflows):
            pass


@pytest.mark.parametrize("url", ["postgresql://nobody:x@127.0.0.1:1/none", "postgresql://nobody:wrong@{}/rubrica"])
async def test_a_database_that_cannot_be_used_is_named(url: str, postgres_url: str) -> None:
    with pytest.raises(SetupError, match="RUBRICA_DATABASE_URL"):
        await connect(url.format(postgres_url.split("@")[1].split("/")[0]))


async def _watch(client: ApiClient, run: str, seen: list[dict[str, str]]) -> None:
    async for event in client.events(run):
        seen.append(event)


def _file() -> aiohttp.FormData:
    form = aiohttp.FormData()
    form.add_field("file", io.BytesIO(b"words"), filename="paper.txt")
    return form
