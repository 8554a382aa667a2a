"""The set of graph queries, as the command makes it: with a model over a socket, and the same again after a cut."""

from pathlib import Path

import orjson
import pytest

from app.domain.errors import InvalidInput
from app.settings import Settings
from bench.synthesis_stub.graph_queries import GraphQueryStub
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.training.synthesis.graph_queries.small_world import NAME, open_world
from training.synthesis.make_requested_set import make_requested_set
from training.synthesis.set_request import SetRequest


async def test_a_set_is_made_from_a_corpus(tmp_path: Path) -> None:
    with open_world(tmp_path / "world"):
        pass
    stub = GraphQueryStub()
    wish = SetRequest("graph-queries", tmp_path / "sets" / "queries", 6, corpora=(NAME,))
    async with serve_model_stub(ModelStub(answerer=lambda prompt: stub.answer(prompt.last))) as served:
        home = tmp_path / "world" / "home"
        settings = Settings.model_validate({"llm_base_url": served.base_url, "llm_model": "stub", "home": home})
        manifest = await make_requested_set(settings, wish, lambda _: None)
        files = sorted(wish.out.glob("*/rows.jsonl"))
        before = [file.read_bytes() for file in files]
        assert await make_requested_set(settings, wish, lambda _: None) == manifest
    assert [file.read_bytes() for file in files] == before
    rows = [orjson.loads(line) for text in before for line in text.splitlines()]
    assert len(rows) >= 4, manifest.refused
    assert all(row["query"] and row["entities"] and row["path"] and row["answer"]["name"] for row in rows)
    assert list(wish.out.parent.glob("graph-world*.sqlite"))


async def test_a_corpus_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="--corpus"):
        await make_requested_set(Settings(), SetRequest("graph-queries", tmp_path / "set", 1), lambda _: None)
