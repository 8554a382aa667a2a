"""How much there is to learn from is counted as an export would have it, without an export."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest

from app.domain.split import HELD_OUT
from app.preferences.service.learnable import LearnableVotes, count_learnable
from tests.app.annotators import Person, make_choice, make_comparison, make_finished_run, make_report
from tests.app.preferences.consenting_readers import (
    BEGINNING,
    DELIVERED,
    OTHER,
    OTHER_WAY,
    WAY,
    Readers,
    make_readers,
)
from tests.app.served_api import ApiClient
from training.evaluation.race_files import read_rows


@pytest.fixture
async def readers(pool: asyncpg.Pool, api: ApiClient) -> Readers:
    return await make_readers(pool, api)


async def count(pool: asyncpg.Pool, least_seconds: float = 0, since: datetime = BEGINNING) -> LearnableVotes:
    return await count_learnable(pool, since, datetime.now(UTC) + timedelta(hours=1), least_seconds, HELD_OUT)


async def add_vote(reader: Person, comparison: str) -> None:
    await reader.get(f"/v1/comparisons/{comparison}")
    assert (await reader.post(f"/v1/comparisons/{comparison}/choice", make_choice("left"))).status < 300


async def test_counts_what_an_export_would_have(pool: asyncpg.Pool, readers: Readers, tmp_path: Path) -> None:
    assert await count(pool) == LearnableVotes(pairs=1, readers=1, rows=1, quick=0)
    run_id = await make_finished_run(pool, make_report(DELIVERED), WAY)
    await pool.execute(
        "UPDATE runs SET organisation_id = $2, created_by = $3 WHERE id = $1", run_id, readers.organisation, readers.asker.id
    )
    second = await make_comparison(pool, readers.asker, run_id, OTHER, OTHER_WAY)
    for reader in (readers.fond, readers.asker):
        await add_vote(reader, second)
    found = await count(pool)
    assert found == LearnableVotes(pairs=3, readers=2, rows=2, quick=0)
    await readers.export(tmp_path / "export")
    pairs = list(read_rows(tmp_path / "export" / "pairs.jsonl"))
    assert (len(pairs), len({pair["reader"] for pair in pairs})) == (found.pairs, found.readers)


async def test_leaves_out_what_was_too_quick_too_early_or_not_agreed_to(pool: asyncpg.Pool, readers: Readers) -> None:
    assert await count(pool, least_seconds=3_600) == LearnableVotes(pairs=0, readers=0, rows=0, quick=2)
    hidden = """UPDATE choices SET elapsed_seconds = 50, choice = (choice::jsonb || '{"hidden_seconds": 48}')::json"""
    await pool.execute(hidden)
    assert (await count(pool, least_seconds=3)).pairs == 0
    assert (await count(pool, least_seconds=2)).pairs == 1
    assert (await count(pool, since=datetime.now(UTC) + timedelta(hours=1))).pairs == 0
    await readers.fond.put("/v1/consent", {"person": False})
    assert await count(pool) == LearnableVotes(pairs=0, readers=0, rows=0, quick=0)
