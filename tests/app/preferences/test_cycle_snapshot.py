"""The snapshot of a cycle, over a real database: what is consented to at this moment, and what was erased since."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import orjson
import pytest

from app.domain.retraining import StepTask, StepVerdict
from infra.local.postgres import LocalPostgres
from tests.app.preferences.consenting_readers import Readers
from tests.support.accounts import role_urls
from training.loop.snapshot import take_snapshot


def make_task() -> StepTask:
    moment = datetime(2020, 1, 1, tzinfo=UTC)
    return StepTask(cycle=uuid4(), step="snapshot", plan="/plan", began_at=moment, since=moment)


@pytest.fixture
def settings(tmp_path: Path, postgres_server: LocalPostgres, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a snapshot's process."""
    monkeypatch.setenv("RUBRICA_HOME", str(tmp_path))
    monkeypatch.setenv("RUBRICA_WORKER_DATABASE_URL", role_urls(postgres_server, postgres_url)[1])


@pytest.mark.usefixtures("settings")
async def test_it_exports_what_is_consented_to(readers: Readers, tmp_path: Path) -> None:
    outcome = await take_snapshot(make_task(), tmp_path)
    assert outcome.verdict is StepVerdict.DONE
    assert outcome.figures["erased"] == {}
    manifest = orjson.loads((tmp_path / "export" / "manifest.json").read_bytes())
    assert manifest["said"] == outcome.figures["said"]
    [row] = map(orjson.loads, (tmp_path / "export" / "pairs.jsonl").read_bytes().splitlines())
    assert (row["organisation"], len(row["reader"])) != ("", 0)


@pytest.mark.usefixtures("settings")
async def test_an_attempt_that_was_cut_off_is_made_anew(readers: Readers, tmp_path: Path) -> None:
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "pairs.jsonl").write_text("half a li")
    first = await take_snapshot(make_task(), tmp_path)
    assert first.verdict is StepVerdict.DONE
    assert "half" not in (tmp_path / "export" / "pairs.jsonl").read_text()
