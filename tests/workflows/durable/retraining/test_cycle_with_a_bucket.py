"""A cycle whose artifacts lie in a bucket: it waits while the store is away, and serves a copy."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.models.artifacts.folder import FolderArtifacts
from tests.support.adapter_server import serve_adapters
from tests.support.faulty_store import Fault, FaultyStore, running_faults
from tests.support.s3_server import sign_in
from tests.workflows.durable.retraining.toy_cycle import ANN, ToyLoop
from tests.workflows.durable.whole_product import WholeProduct

pytestmark = pytest.mark.extra("obstore", "SeaweedFS")
pytest.importorskip("obstore")

from app.models.artifacts.bucket import Bucket  # noqa: E402
from app.models.artifacts.s3 import S3Artifacts  # noqa: E402


@pytest.fixture
async def loop(house: WholeProduct, tmp_path: Path) -> AsyncIterator[ToyLoop]:
    async with serve_adapters() as server:
        yield ToyLoop(house, tmp_path / "loop", server)


async def test_what_was_trained_is_not_lost_while_the_store_is_away(
    loop: ToyLoop, s3_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_faults(FaultyStore(s3_server)) as faulty:
        sign_in(faulty.address, monkeypatch)
        Bucket("s3://cycles").send("made", b"")
        faulty.faults = [Fault("PUT", "adapter_config", -1, status=503)]
        copies = tmp_path / "copies"
        store = S3Artifacts(Bucket("s3://cycles", patience=timedelta(milliseconds=300)), FolderArtifacts(copies))
        async with loop.worker(artifacts=store):
            cycle = await loop.cycles.start(loop.write_plan(), ANN)
            waiting = await loop.wait_for(cycle.id, "waiting")
            assert waiting.detail.startswith("rubric.register waits for a server: s3://cycles cannot do this now")
            faulty.faults = []
            await loop.wait_for(cycle.id, "promoted")
    assert loop.starts.count("rubric.train") == 1
    [loaded] = loop.server.loaded.values()
    assert Path(loaded).parent == copies
