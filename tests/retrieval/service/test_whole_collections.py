"""Reading collections whole over the owner's socket: what fits, for whom, and of which days."""

import asyncio
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from app.domain.errors import ToolError
from app.domain.evidence import snapshot_hash
from retrieval.ports import CollectionDescription, SearchFilter
from retrieval.search.tenant_index import TenantView
from retrieval.service.client import IndexClient
from tests.retrieval.service.owner_process import OwnerProcess

OURS = SearchFilter(collections=("papers",))
TEXTS = {
    "lease.md": "# Lease\n\nThe lease of the warehouse ends on 3 May 2031.",
    "tide.md": "---\ndate: 2024-06-01\n---\n\n# Tide\n\nThe tide rises by four metres.",
}


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerProcess]:
    started = OwnerProcess(tmp_path_factory.mktemp("whole") / "home")
    yield started
    started.clean()


async def test_a_collection_is_read_whole_by_its_tenant_alone_as_far_as_it_fits(owner: OwnerProcess, tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    async with IndexClient(str(owner.socket)) as client:
        await client.build("papers", "folder", str(tmp_path), tenant="ours")
        ours, theirs = TenantView(client, "ours"), TenantView(client, "theirs")
        found = await ours.read_whole(OURS, 10_000)
        assert found is not None
        assert sorted(document.source.title for document in found) == ["Lease", "Tide"]
        assert all(snapshot_hash(document.text) == document.source.snapshot for document in found)
        length = sum(len(document.text) for document in found)
        assert await ours.read_whole(OURS, length) == found
        assert await ours.read_whole(OURS, length - 1) is None
        dated = OURS.model_copy(update={"published_from": date(2024, 1, 1)})
        assert [document.source.title for document in await ours.read_whole(dated, length) or ()] == ["Tide"]
        [described] = await ours.describe(OURS)
        assert described == CollectionDescription(
            name="papers", kind="folder", own=True, documents=2, years=(2024, 2024), languages={"en": 2}, titles=("Lease", "Tide")
        )
        with pytest.raises(ToolError, match="no collection 'papers'"):
            await theirs.describe(OURS)
        (tmp_path / "mud.md").write_text("# 泥滩\n\n潮水退去后，泥滩露出三公里。", encoding="utf-8")
        await wait_until_built(client)
        await client.build("papers", "folder", str(tmp_path), tenant="ours")
        await wait_until_built(client)
        assert [each.languages for each in await ours.describe(OURS)] == [{"en": 2, "zh": 1}]
        for stranger in (theirs, TenantView(client, None)):
            with pytest.raises(ToolError, match="no collection 'papers'"):
                await stranger.read_whole(OURS, 10_000)


async def wait_until_built(client: IndexClient) -> None:
    while (await client.read_progress("papers"))["building"]:
        await asyncio.sleep(0.05)
