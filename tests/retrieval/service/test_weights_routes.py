"""The index owner's weights over a real socket: what entails what, and which vectors are kept."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from aiohttp import web

from app.domain.errors import ToolError
from retrieval.encoding.nli import inference_labels_of, read_fact_checkers
from retrieval.encoding.recent_vectors import RecentVectors
from retrieval.service.client import IndexClient
from retrieval.service.json_http import errors_as_json
from retrieval.service.weights_routes import Entails, add_weights_routes
from tests.retrieval.word_encoder import WordEncoder


def entails(pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
    return [(1.0, 0.0) if hypothesis in premise else (0.0, 0.5) for premise, hypothesis in pairs]


async def served(folder: Path, inference: Entails | None) -> tuple[IndexClient, web.AppRunner]:
    app = web.Application(middlewares=[errors_as_json])
    add_weights_routes(app, inference)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.UnixSite(runner, str(folder / "s")).start()
    return IndexClient(str(folder / "s")), runner


@pytest.fixture
async def equipped(tmp_path: Path) -> AsyncIterator[IndexClient]:
    client, runner = await served(tmp_path, entails)
    async with client:
        yield client
    await runner.cleanup()


@pytest.fixture
async def bare(tmp_path: Path) -> AsyncIterator[IndexClient]:
    client, runner = await served(tmp_path, None)
    async with client:
        yield client
    await runner.cleanup()


async def test_a_text_is_encoded_once_until_others_take_its_place() -> None:
    encoder, recent = WordEncoder(), RecentVectors(most=2)
    first, again = recent.encode(encoder, ["duties", "labor", "duties"]), recent.encode(encoder, ["labor", "duties"])
    assert encoder.encoded == ["duties", "labor"]
    assert [list(vector) for vector in first] == [list(again[n]) for n in (1, 0, 1)]
    recent.encode(encoder, ["harvest"])  # labor was asked for longest ago
    recent.encode(encoder, ["duties", "labor"])
    assert encoder.encoded == ["duties", "labor", "harvest", "labor"]


async def test_pairs_are_judged_in_order(equipped: IndexClient) -> None:
    assert await equipped.entail([("it rains in May", "it rains"), ("it rains", "it snows")]) == [(1.0, 0.0), (0.0, 0.5)]


async def test_missing_weights_are_an_error_that_says_so(bare: IndexClient) -> None:
    with pytest.raises(ToolError, match="RUBRICA_NLI_MODEL"):
        await bare.entail([("a", "b")])


@pytest.mark.parametrize("pairs", [[], [("", "b")], [("a", " ")], [("a", "b")] * 300])
async def test_what_is_no_pair_is_refused(equipped: IndexClient, pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(ToolError):
        await equipped.entail(pairs)


def test_the_labels_of_a_model_are_found_in_any_order() -> None:
    assert inference_labels_of({0: "contradiction", 1: "entailment", 2: "neutral"}) == (1, 0)
    assert inference_labels_of({"0": "ENTAILMENT", "1": "NEUTRAL", "2": "CONTRADICTION"}) == (0, 2)
    with pytest.raises(ToolError, match="labels"):
        inference_labels_of({0: "LABEL_0"})


def test_a_fact_checker_tells_support_alone() -> None:
    assert inference_labels_of({0: "unsupported", 1: "supported"}) == (1, None)
    assert inference_labels_of({0: "entailment", 1: "not_entailment"}) == (0, None)
    with pytest.raises(ToolError, match=r"models\.toml"):
        inference_labels_of({0: "LABEL_0", 1: "LABEL_1"})
    assert {checker.supported for checker in read_fact_checkers().values()} == {1}
