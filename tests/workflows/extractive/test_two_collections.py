"""What a reader gets without a model from two collections named together: an encyclopedia, and papers in greater number."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.reports.rendering.numbering import number_citations
from retrieval.ports import SearchFilter
from retrieval.search.in_process import LocalSearcher, open_local
from retrieval.store.catalogue import Collection, CorpusKind
from tests.workflows.extractive.extractive_report import write_report_on

ARTICLES = {
    "Gnat": "Gnats spread diseases of the lowlands by their bite, and the fever of the marsh they bring attacks the liver.",
    "Marsh": "A marsh is wet ground, feared for the fever of its gnats, which swells the liver of those who dig peat.",
    "Liver": "The liver makes bile; fever, of the marsh or of the tropics, enlarges it so that the ribs show.",
    "Lowland": "Lowlands lie near the sea, and where marsh was drained there fever left, and the liver of ploughmen healed.",
    "Fever": "Fever is heat of the body; that of the marsh returns each third day, and the liver aches between attacks.",
    "Quill": "A quill is a feather made into a pen. Clerks preferred goose quills for their strength.",
    "Harbour": "A harbour is a sheltered part of the sea where ships lie safe from storms.",
}
PAPERS = {
    "Villagers in spring": "The effects of marsh fever on the liver of villagers were worst among those who slept near ponds.",
    "Shepherds of the fen": "Marsh fever has effects on the liver of shepherds that outlast the fever by about two years.",
    "A trial of bark": "Bark lessened the effects which marsh fever has on the liver in nine of twenty patients.",
    "Hearts and livers": "Among the effects of marsh fever, swelling of the liver came before the heart grew weak.",
    "Children of millers": "Effects of marsh fever on the liver were absent in children whose mothers had drunk boiled water.",
    "Soldiers abroad": "A regiment back from the delta showed effects of marsh fever on the liver in every third private.",
    "Diet and recovery": "Milk hastened recovery of the liver from the effects of marsh fever, while wine delayed it by weeks.",
    "Notes on dissection": "Dissection found the liver dark and hard, both effects of marsh fever that had long gone untreated.",
}
OTHERS = [
    f"The {what} of {where} are counted every autumn."
    for what in ("geese", "barges", "mills")
    for where in ("Arle", "Brill", "Corve")
]
"""What fills both collections, so that no word is in all documents."""
BOTH = ("articles", "papers")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSearcher]:
    """Two collections, found by words."""
    collections = []
    for name, texts in (("articles", ARTICLES), ("papers", PAPERS)):
        files = tmp_path_factory.mktemp(name)
        filling = {f"Count {number} of {name}": text for number, text in enumerate(OTHERS)}
        for title, text in (texts | filling).items():
            Path(files / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
        collections.append(Collection(name=name, kind=CorpusKind.FOLDER, path=str(files)))
    with open_local(tmp_path_factory.mktemp("home"), *collections) as searcher:
        yield searcher


async def found_in(query: str, searcher: LocalSearcher, collections: tuple[str, ...], limit: int = 4) -> list[str]:
    passages = await searcher.search(query, limit, SearchFilter(collections=collections))
    assert [p.score for p in passages] == sorted((p.score for p in passages), reverse=True)
    return [passage.source.collection for passage in passages]


async def test_among_few_results_each_collection_has_one(library: LocalSearcher) -> None:
    found = await found_in("fever of the marsh and the liver", library, BOTH)
    assert sorted(set(found)) == ["articles", "papers"]


async def test_a_collection_without_anything_good_is_not_let_in(library: LocalSearcher) -> None:
    assert set(await found_in("goose quills preferred by clerks", library, BOTH, limit=1)) == {"articles"}
    assert "papers" not in await found_in("goose quills", library, BOTH)


async def test_what_both_speak_of_is_quoted_from_both_at_the_top_of_the_report(library: LocalSearcher) -> None:
    report = await write_report_on("What are the effects of marsh fever on the liver?", library, BOTH)
    citations = {citation.quote.key: citation.quote.source.collection for citation in number_citations(report).citations}
    opening = {collection for key, collection in citations.items() if key in report.sections[0].body}
    assert opening == set(BOTH), "three statements open the report; without a hearing all are of papers"
    assert list(citations.values()).count("papers") > 2


async def test_what_one_speaks_of_is_quoted_from_that_one(library: LocalSearcher) -> None:
    report = await write_report_on("Why did clerks prefer goose quills?", library, BOTH)
    assert {citation.quote.source.collection for citation in number_citations(report).citations} == {"articles"}
