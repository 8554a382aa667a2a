"""The set of graph queries, as the command makes it: with a model over a socket, and the same again after a cut."""

from pathlib import Path

import orjson
import pytest

from app.domain.benchmark import Decision, Review
from app.domain.errors import InvalidInput
from app.settings import Settings
from bench.synthesis_stub.graph_queries import GraphQueryStub
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.training.synthesis.graph_queries.small_world import NAME, open_world
from training.evaluation.builder.queue import ReviewQueue
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


async def test_rows_that_just_passed_wait_for_people_and_a_rejected_one_leaves_the_set(tmp_path: Path) -> None:
    with open_world(tmp_path / "world"):
        pass
    stub = GraphQueryStub()

    def answer(prompt: StubPrompt) -> str | None:
        return '{"score": 3}' if prompt.step == "graph_coherence" else stub.answer(prompt.last)

    audit = tmp_path / "audit"
    wish = SetRequest("graph-queries", tmp_path / "set", 3, corpora=(NAME,), options={"audit": str(audit)})
    async with serve_model_stub(ModelStub(answerer=answer)) as served:
        home = tmp_path / "world" / "home"
        settings = Settings.model_validate({"llm_base_url": served.base_url, "llm_model": "stub", "home": home})
        assert sum((await make_requested_set(settings, wish, lambda _: None)).rows.values()) == 3
        queue = ReviewQueue(audit)
        first, *others = queue.list_waiting("ada")
        assert (len(others), "\n-> " in first.question) == (2, True)
        queue.keep_review(Review(id=first.id, reviewer="ada", decision=Decision.REJECT, note="two answers"))
        manifest = await make_requested_set(settings, wish, lambda _: None)
    assert (sum(manifest.rows.values()), manifest.refused["audit"]) == (2, 1)
    refused = [orjson.loads(line) for line in (wish.out / "refused.jsonl").read_bytes().splitlines()]
    assert ("audit", "ada rejects it: two answers") in {(each["stage"], each["reason"]) for each in refused}
    assert len(queue.list_waiting("ada")) == 2


async def test_a_corpus_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="--corpus"):
        await make_requested_set(Settings(), SetRequest("graph-queries", tmp_path / "set", 1), lambda _: None)
