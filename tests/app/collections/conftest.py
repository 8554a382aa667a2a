"""Two organisations of an API with a real index owner behind it, and ways to send documents and to wait for them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import asyncpg
import pytest

from app.http.services import Services, open_services
from tests.app.database.conftest import OrganisationWithRun, make_organisation
from tests.app.served_api import ApiClient, ApiReply, InMemoryRuns
from tests.retrieval.service.owner_process import OwnerProcess


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerProcess]:
    started = OwnerProcess(tmp_path_factory.mktemp("collections") / "home")
    yield started
    started.clean()


@pytest.fixture
async def services(api_urls: tuple[str, str], workflows: InMemoryRuns, owner: OwnerProcess) -> AsyncIterator[Services]:
    async with open_services(
        *api_urls, workflows, retrieval_url=f"unix:{owner.socket}", documents=owner.home / "documents"
    ) as opened:
        yield opened


@pytest.fixture
async def two(services: Services, pool: asyncpg.Pool) -> tuple[OrganisationWithRun, OrganisationWithRun]:
    return await make_organisation(services, pool, "Ours"), await make_organisation(services, pool, "Theirs")


async def send(api: ApiClient, collection: str, *files: tuple[str, bytes]) -> ApiReply:
    form = aiohttp.FormData(quote_fields=False)
    for name, content in files:
        form.add_field("file", content, filename=name)
    return await api.send("POST", f"/v1/collections/{collection}/documents", data=form)


async def documents(api: ApiClient, collection: str) -> dict[str, dict[str, Any]]:
    """By name, newest first."""
    reply = await api.get(f"/v1/collections/{collection}/documents?limit=100")
    return {item["name"]: item for item in reply.json["items"]}


async def settled(api: ApiClient, collection: str, *gone: str) -> dict[str, dict[str, Any]]:
    """Once every document is indexed or has failed, and these are gone."""
    while True:
        held = await documents(api, collection)
        if all(d["state"] in ("indexed", "failed") for d in held.values()) and not held.keys() & set(gone):
            return held
        await asyncio.sleep(0.2)
