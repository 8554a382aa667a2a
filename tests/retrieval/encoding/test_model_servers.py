"""Encoders and rerankers on a server: what is asked, what is checked, and what happens when the server is slow, wrong or down."""

import re
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from app.domain.errors import SetupError, ToolError, ToolUnavailable
from app.settings import read_settings
from retrieval.encoding.encoder import EncoderBackend, open_encoder
from retrieval.encoding.encoder_endpoint import BATCH, EmbeddingsServer, EndpointEncoder
from retrieval.encoding.endpoint import EndpointPatience
from retrieval.encoding.engines import RetrievalEngines, engines_of
from retrieval.ports import SearchFilter
from retrieval.search.in_process import open_local
from retrieval.search.library import Library
from retrieval.search.reranker import EndpointReranker, RerankerSettings, open_reranker
from retrieval.service.server import Options, make_search_encoder
from retrieval.store.catalogue import Collection
from tests.retrieval.encoding.model_server import KEY, ModelServer
from tests.retrieval.word_encoder import WordEncoder
from tests.support.patience import PATIENCE_S

SHORT = EndpointPatience(attempt=timedelta(seconds=2), total=timedelta(seconds=3))
LONG = EndpointPatience(attempt=timedelta(seconds=PATIENCE_S), total=timedelta(seconds=PATIENCE_S))
HASTY = EndpointPatience(attempt=timedelta(seconds=2), total=timedelta(seconds=PATIENCE_S))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    started = ModelServer()
    started.start()
    yield started
    started.stop()


def embeddings(server: ModelServer, key: str = KEY) -> EmbeddingsServer:
    return EmbeddingsServer(url=server.url, model="house/embed.v2", api_key=SecretStr(key))


def opened(server: ModelServer, patience: EndpointPatience = LONG) -> EndpointEncoder:
    return EndpointEncoder(embeddings(server), patience, patience)


def unit_vectors(server: ModelServer, texts: list[str]) -> Any:
    vectors = np.array([server.make_vector(text) for text in texts])
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def test_texts_are_asked_for_in_batches_and_come_back_in_order_at_unit_length(server: ModelServer) -> None:
    encoder = opened(server)
    texts = [f"text {n}" for n in range(2 * BATCH + 3)]
    vectors = encoder.encode_passages(texts)
    assert (encoder.name, encoder.size, vectors.shape) == ("house-embed-v2-24", 24, (len(texts), 24))
    expected = np.array([server.make_vector(text) for text in texts])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1)[:, None], atol=1e-5)
    assert np.allclose(encoder.encode_query("text 7"), vectors[7], atol=1e-6)
    assert sorted(len(body["input"]) for body in server.bodies) == [1, 1, 3, BATCH, BATCH]
    assert {body["model"] for body in server.bodies} == {"house/embed.v2"}
    assert encoder.encode_passages([]).shape == (0, 24)


def test_a_query_that_was_just_asked_is_not_asked_again(server: ModelServer) -> None:
    encoder = opened(server)
    assert encoder.encode_query("tariff") == encoder.encode_query("tariff")
    assert len(server.bodies) == 2  # the size, then the query


@pytest.mark.parametrize("mishap", [429, 503, PATIENCE_S])
def test_refusals_for_load_outages_and_slowness_are_tried_again(server: ModelServer, mishap: float) -> None:
    encoder = opened(server, HASTY)
    server.mishaps.extend([mishap, mishap])
    assert encoder.encode_passages(["wool"]).shape == (1, 24)


@pytest.mark.parametrize("header", [("Content-Length", "1000"), ("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")])
def test_a_server_that_dies_while_it_answers_is_asked_again(server: ModelServer, header: tuple[str, str]) -> None:
    encoder = opened(server, HASTY)
    server.cuts.append(header)
    assert encoder.encode_passages(["wool"]).shape == (1, 24)
    assert not server.cuts


def test_a_server_that_says_when_to_come_back_is_obeyed(server: ModelServer) -> None:
    encoder = opened(server, SHORT)
    server.retry_after = "50"
    server.mishaps.append(429)
    with pytest.raises(ToolUnavailable, match="does not answer: status 429"):  # fifty seconds is more than a search waits
        encoder.encode_query("wool")
    assert len(server.bodies) == 1


def test_the_service_waits_for_passages_no_longer_than_for_queries(server: ModelServer, home: Path) -> None:
    options = Options(home / "socket", home, None, None, EncoderBackend.AUTO, None)
    encoder = make_search_encoder(options, RetrievalEngines(embeddings=embeddings(server)))()
    assert encoder is not None
    server.retry_after = "50"
    server.mishaps.append(429)
    with pytest.raises(ToolUnavailable, match="does not answer: status 429"):  # a build would come back
        encoder.encode_passages(["wool"])


def test_a_server_that_is_down_is_worth_waiting_for(server: ModelServer) -> None:
    encoder = opened(server, SHORT)
    server.stop()
    with pytest.raises(ToolUnavailable, match="does not answer"):
        encoder.encode_query("wool")
    server.start = lambda: None  # type: ignore[method-assign]


def test_a_wrong_key_or_address_is_said_at_once(server: ModelServer) -> None:
    with pytest.raises(ToolError, match="401: check the address and the key"):
        EndpointEncoder(embeddings(server, "another"), LONG)
    server.mishaps.append(400)
    with pytest.raises(ToolError, match="refuses \\(400\\)"):
        opened(server)


def _shorter(said: Any) -> Any:
    return {"data": [entry | {"embedding": entry["embedding"][:8]} for entry in said["data"]]}


def _fewer(said: Any) -> Any:
    return {"data": said["data"][1:]}


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_shorter, "8 dimensions, and had 24 before"),
        (_fewer, "one vector a text"),
        (lambda _: {"object": "list"}, "one vector a text"),
        (lambda _: b"<html>", "other than JSON"),
        (lambda said: {"data": [entry | {"embedding": [0.0] * 24} for entry in said["data"]]}, "empty, infinite or zero"),
    ],
)
def test_wrong_answers_never_reach_an_index(server: ModelServer, spoil: Callable[[Any], Any], reason: str) -> None:
    encoder = opened(server)
    server.spoil = spoil
    with pytest.raises(ToolError, match=reason):
        encoder.encode_passages(["wool", "sugar"])


TOO_MANY = [
    (413, {"message": "Payload Too Large"}),
    (422, {"error": "batch size is over the maximum", "error_type": "Validation"}),
    (400, {"error": {"message": "input must have fewer than 21 items", "code": "invalid_argument"}}),
    (200, {"error": {"message": "too many inputs"}}),
]


@pytest.mark.parametrize("refusal", TOO_MANY, ids=lambda refusal: str(refusal[0]))
def test_a_server_that_takes_fewer_texts_at_once_is_asked_for_fewer_from_then_on(
    server: ModelServer, refusal: tuple[int, object]
) -> None:
    server.refuse = lambda texts: refusal if len(texts) > 20 else None
    encoder = opened(server)
    texts = [f"text {n}" for n in range(2 * BATCH + 1)]
    vectors = encoder.encode_passages(texts)
    assert np.allclose(vectors, unit_vectors(server, texts), atol=1e-5)
    server.bodies.clear()
    encoder.encode_passages(texts)
    assert {len(body["input"]) for body in server.bodies} == {16, 1}


ODD = "\u2603" + " cold" * 200
"""A text that a server of these tests has no vector for as a whole. It ends in words that it knows."""
TOO_ODD = [(400, {"error": "the input has 812 tokens, the model takes 512"}), (500, {"error": "json: unsupported value: NaN"})]


@pytest.mark.parametrize("refusal", TOO_ODD, ids=lambda refusal: str(refusal[0]))
def test_a_text_that_is_refused_is_cut_and_named_and_the_others_are_whole(
    server: ModelServer, refusal: tuple[int, object], caplog: pytest.LogCaptureFixture
) -> None:
    server.refuse = lambda texts: refusal if any(len(text) > 600 for text in texts) else None
    encoder = opened(server)
    texts = [f"text {n}" for n in range(9)]
    vectors = encoder.encode_passages([*texts[:4], ODD, *texts[4:]])
    assert np.allclose(vectors, unit_vectors(server, [*texts[:4], ODD[:500], *texts[4:]]), atol=1e-5)
    assert f"is encoded by 500 of its {len(ODD)} characters" in caplog.text
    assert "\u2603 cold" in caplog.text
    server.bodies.clear()
    encoder.encode_passages(texts)
    assert len(server.bodies) == 1, "an odd text was taken for too many"


@pytest.mark.parametrize("vector", [[0.0] * 24, [], None, [None] * 24, ["NaN"] * 24, [1.0], "none", {"a": 1}], ids=repr)
def test_a_text_without_a_vector_is_left_to_the_words_and_named(
    server: ModelServer, vector: object, caplog: pytest.LogCaptureFixture
) -> None:
    encoder = opened(server)
    only = encoder.encode_passages(["wool", "sugar"])

    def spoil(said: Any) -> Any:
        texts = server.bodies[-1]["input"]
        return {"data": [{**one, "embedding": vector} if texts[one["index"]] == "odd" else one for one in said["data"]]}

    server.spoil = spoil
    vectors = encoder.encode_passages(["wool", "odd", "sugar"])
    assert np.allclose(vectors[[0, 2]], only, atol=1e-6)
    assert not vectors[1].any()
    assert "'odd' is found by its words alone" in caplog.text
    assert not any(encoder.encode_query("odd"))


def test_answers_without_numbers_are_in_the_order_of_the_texts(server: ModelServer) -> None:
    server.spoil = lambda said: {"data": [{"embedding": entry["embedding"]} for entry in said["data"][::-1]]}
    texts = ["wool", "sugar", "tea"]
    assert np.allclose(opened(server).encode_passages(texts), unit_vectors(server, texts), atol=1e-5)


def test_a_server_that_fails_at_everything_is_away_and_no_text_is_blamed(server: ModelServer) -> None:
    encoder = opened(server, SHORT)
    server.refuse = lambda _: (500, {"error": "out of memory"})
    with pytest.raises(ToolUnavailable, match="status 500"):
        encoder.encode_passages(["wool", "sugar"])


def test_a_collection_with_a_text_that_has_no_vector_is_built_named_and_found_by_words(
    server: ModelServer, home: Path, notes_collection: Collection
) -> None:
    odd = re.compile("canal|ship", re.IGNORECASE)
    server.refuse = lambda texts: (500, {"error": "NaN"}) if any(map(odd.search, texts)) else None
    with open_local(home, notes_collection, encoder=lambda: opened(server)) as local:
        build, generation = local.shelves.catalogue.find_build("notes"), local.library.generation_of("notes")
        assert build is not None
        assert generation is not None
        assert generation.dense
        assert build.detail.startswith("the model has no vector for 1 passages, which only words find: ")
        found = local.library.search("canal tolls for ships", 2, SearchFilter(collections=("notes",)))
        assert found[0].text.startswith("The canal")


def test_a_collection_is_built_and_searched_with_it_and_another_size_is_another_index(
    server: ModelServer, home: Path, notes_collection: Collection
) -> None:
    for size in (24, 40):
        server.size = size
        with open_local(home, notes_collection, encoder=lambda: opened(server)) as local:
            local.build(notes_collection)
            generation = local.library.generation_of("notes")
            assert generation is not None
            assert (generation.encoder, generation.dense) == (f"house-embed-v2-{size}", True)
            assert local.library.search("tolls for ships", 2, SearchFilter(collections=("notes",)))[0].text.startswith(
                "The canal"
            )


def test_an_encoder_is_taken_from_the_server_where_one_is_set(server: ModelServer, tmp_path: Path) -> None:
    encoder = open_encoder(EncoderBackend.AUTO, None, tmp_path, server=embeddings(server))
    assert encoder.name == "house-embed-v2-24"
    with pytest.raises(SetupError, match="no encoder is wanted"):
        open_encoder(EncoderBackend.NONE, None, tmp_path, server=embeddings(server))


def reranking(server: ModelServer, patience: EndpointPatience = LONG) -> EndpointReranker:
    return EndpointReranker(server.url, "house/rank", KEY, patience)


def test_a_reranker_decides_the_order(server: ModelServer, home: Path, notes_collection: Collection) -> None:
    with open_local(home, notes_collection, encoder=WordEncoder) as local:
        shelves, where = local.shelves, SearchFilter(collections=("notes",))
        query = "tolls the tariff of 1890 raised"
        library = Library(shelves.catalogue, shelves.store, shelves.index, WordEncoder, reranking(server))
        library.refresh("notes")
        plain, ordered = local.library.search(query, 3, where), library.search(query, 3, where)
        assert {passage.key for passage in plain} == {passage.key for passage in ordered}
        assert "tariff" in ordered[0].text
        assert [passage.score for passage in ordered] == sorted((passage.score for passage in plain), reverse=True)
        server.spoil = lambda said: {
            "results": [entry | {"relevance_score": -entry["relevance_score"]} for entry in said["results"]]
        }
        assert "tariff" in library.search(query, 3, where)[-1].text


def test_a_reranker_that_is_wrong_or_down_is_a_tool_error(server: ModelServer) -> None:
    judge = reranking(server)
    server.spoil = lambda said: {"results": said["results"][1:]}
    with pytest.raises(ToolError, match="one score a text"):
        judge.score("wool", ["sheep", "wool"])
    server.mishaps.extend([503] * 9)
    with pytest.raises(ToolError, match="does not answer"):
        reranking(server, SHORT).score("wool", ["sheep", "wool"])


def test_the_settings_name_the_reranker() -> None:
    assert open_reranker(None) is None
    assert isinstance(open_reranker(RerankerSettings(model="m", url="http://host/v1")), EndpointReranker)


def test_the_settings_name_the_prefix_on_a_shared_server() -> None:
    settings = read_settings({"RUBRICA_QDRANT_URL": "http://host:6333", "RUBRICA_QDRANT_PREFIX": "acme"})
    assert engines_of(settings).qdrant_prefix == "acme"


def test_a_cross_encoder_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(SetupError, match="RUBRICA_RERANKER_URL"):
        open_reranker(RerankerSettings(model="some/model"))
