"""Texts compared by meaning on the spot: sentences, and passages whose vectors are not made yet."""

from pathlib import Path

import pytest
from aiohttp import web

from app.domain.errors import InvalidInput, ToolError
from retrieval.ports import SearchFilter
from retrieval.search.in_process import open_local
from retrieval.search.library import MAX_COMPARED, MAX_RATED, Library
from retrieval.search.meaning import TextComparer
from retrieval.search.tenant_index import TenantView
from retrieval.service.client import IndexClient
from retrieval.service.owner import IndexOwner
from retrieval.service.server import create_index_app
from retrieval.store.catalogue import Collection, CorpusKind
from tests.retrieval.word_encoder import WordEncoder, WordRater
from workflows.tools.search import SearchTool

NOTES = {"canal": "The canal paid for itself by tolls.", "wool": "Sheep farmers asked for duties on wool and on woollen cloth."}


@pytest.fixture
def notes(tmp_path: Path) -> Collection:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / f"{name}.txt").write_text(text)
    return Collection(name="notes", kind=CorpusKind.FOLDER, path=str(folder))


def test_the_nearest_text_has_the_highest_cosine_and_each_text_is_encoded_once() -> None:
    encoder = WordEncoder()
    comparer = TextComparer(lambda: encoder)
    cosines = comparer.compare("tolls of the canal", [*NOTES.values()])
    assert cosines[0] > cosines[1]
    assert comparer.compare("wool", [*NOTES.values()])[1] > 0
    assert encoder.encoded == [*NOTES.values()]


def test_without_an_encoder_nothing_is_compared() -> None:
    assert TextComparer(lambda: None).compare("wool", ["wool"]) == []
    assert TextComparer(WordEncoder).compare("wool", []) == []


def test_what_the_words_found_is_compared_before_the_index_has_vectors(tmp_path: Path, notes: Collection) -> None:
    with open_local(tmp_path / "home", notes) as local:
        encoder = WordEncoder()
        library = Library(local.shelves.catalogue, local.shelves.store, local.shelves.index, lambda: encoder)
        library.refresh("notes")
        found = library.search("duties on wool, or tolls", 2, SearchFilter(collections=("notes",)))
        assert len(found) == 2
        assert found[0].text == NOTES["wool"]
        assert any(NOTES["wool"] in text for text in encoder.encoded)


async def test_too_many_texts_are_refused(tmp_path: Path, notes: Collection) -> None:
    with open_local(tmp_path / "home", notes) as local, pytest.raises(InvalidInput, match="at most 1024"):
        await local.compare("wool", ["wool"] * (MAX_COMPARED + 1))


async def test_the_search_tool_compares_and_rates_through_a_tenants_view_of_the_service(
    tmp_path: Path, notes: Collection
) -> None:
    """As in a worker: tool, view, socket, owner."""
    with open_local(tmp_path / "home", notes) as local:
        shelves = local.shelves
        library = Library(shelves.catalogue, shelves.store, shelves.index, WordEncoder, rater=WordRater)
        app = create_index_app(IndexOwner(local.shelves, library, ()), library)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.UnixSite(runner, str(tmp_path / "s")).start()
        async with IndexClient(str(tmp_path / "s")) as client:
            tool = SearchTool(TenantView(client, "someone"), SearchFilter())
            result = await tool.call({"query": "duties on wool", "compare": [*NOTES.values()]})
            rated = await tool.call({"query": "duties on wool", "rate": [*NOTES.values()]})
            with pytest.raises(ToolError, match="1 to 128"):
                await client.rate("wool", ["wool"] * (MAX_RATED + 1))
        await runner.cleanup()
    assert len(result.cosines) == len(NOTES)
    assert result.cosines[1] > result.cosines[0]
    assert rated.ratings[1] > rated.ratings[0]
