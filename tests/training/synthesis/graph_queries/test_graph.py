"""The graph of a corpus: which names are links, what is said about an entity, and that each of it can be read where it stands."""

import json
from pathlib import Path

import pytest

from tests.training.synthesis.graph_queries.small_world import list_records, open_world
from training.synthesis.graph_queries.building import build_graph, read_links
from training.synthesis.graph_queries.graph import Graph
from training.synthesis.graph_queries.nouns import AttributeKind
from training.synthesis.graph_queries.row import show_entity
from training.synthesis.source_corpus import SourceCorpus

ARTICLES = {
    "Aldous Berrin": "Aldous Berrin, known as Captain Berrin, was a sailor and writer. In 1904 he left Port Mellow on Halcyon.",
    "Port Mellow": "Port Mellow is a town. The reading of books is popular there. It grew from 1,200 to 3,400 people.",
    "Reading": "Reading is a town near Port Mellow.",
    "Halcyon (ship)": "Halcyon was a ship of 40 tons. It sank off Port Mellow.",
    "Halcyon (bird)": "Halcyon is a bird that nests at Port Mellow.",
    "Berrin's Log": "Berrin's Log is a book. Captain Berrin wrote it by the sea.",
    "河": "河是水流。",
    "青禾古镇": "青禾古镇是江南的一座镇。镇上有人读书，河边有人洗衣。",
    "沈墨言": "沈墨言（1810年－1870年）是诗人，幼年住在青禾古鎮，晚年住在雨桥。",
    "雨桥": "雨桥是一个村庄。",
}


def graph_of(corpus: SourceCorpus, folder: Path, links: Path | None = None) -> tuple[Graph, dict[str, int]]:
    graph = Graph(build_graph(corpus, folder, read_links(links) if links else None))
    return graph, {title: number for number, title in enumerate(ARTICLES)}


@pytest.fixture
def records() -> list[dict[str, str]]:
    rows = enumerate(ARTICLES.items())
    return [{"_id": str(n), "doc_id": str(n), "title": title, "url": f"w:{n}", "text": text} for n, (title, text) in rows]


def test_names_are_links_unless_they_are_common_words_or_shared(tmp_path: Path, records: list[dict[str, str]]) -> None:
    with open_world(tmp_path, records) as corpus:
        graph, number = graph_of(corpus, tmp_path / "graphs")

        def linked(one: str, other: str) -> bool:
            return number[other] in graph.list_links(number[one])

        assert linked("Aldous Berrin", "Port Mellow")
        assert linked("Berrin's Log", "Aldous Berrin")
        assert linked("沈墨言", "青禾古镇")
        assert not graph.is_nameable(number["Reading"])
        assert not graph.is_nameable(number["河"])
        assert not linked("Aldous Berrin", "Halcyon (ship)")
        assert graph.may_be_linked(number["Aldous Berrin"], number["Halcyon (ship)"])
        assert graph.find_node(number["Halcyon (bird)"]).ambiguity == 2
        assert not graph.is_nameable(number["雨桥"]), "so few ideographs in so many documents are a word"
        assert not linked("沈墨言", "雨桥")
        assert graph.may_be_linked(number["沈墨言"], number["雨桥"]), "a question's answer may be meant by a word"


NAMESAKES = {
    "Alexandria, Indiana": "Alexandria is a city of 5,000 people.",
    "Mercury (planet)": "Mercury is a small world of rock.",
    "The Nile": "The Nile reaches the sea near Alexandria. Its boatmen prayed to Mercury.",
    "Oren Tull": "Oren Tull was born in Alexandria, Indiana. He left Alexandria in 1904.",
    "Sky watching": "On clear evenings one planet after the other is seen. Mercury sets first.",
    "青禾（城市）": "青禾是一座城。",
    "沈墨言": "沈墨言写过青禾和春雨。",
}


def test_a_shortened_title_is_a_link_only_where_the_document_says_who_is_meant(tmp_path: Path) -> None:
    rows = [
        {"_id": str(n), "doc_id": str(n), "title": title, "url": f"w:{n}", "text": text}
        for n, (title, text) in enumerate(NAMESAKES.items())
    ]
    number = {title: n for n, title in enumerate(NAMESAKES)}
    with open_world(tmp_path, rows) as corpus:
        graph = Graph(build_graph(corpus, tmp_path / "graphs"))
        linked = {title: {*graph.list_links(n)} for title, n in number.items()}
        assert linked["The Nile"] == set(), "another Alexandria, and another Mercury"
        assert graph.may_be_linked(number["The Nile"], number["Alexandria, Indiana"]), "uniqueness still counts it"
        assert linked["Oren Tull"] == {number["Alexandria, Indiana"]}
        assert linked["Sky watching"] == {number["Mercury (planet)"]}
        assert linked["沈墨言"] == set()
        links = {"The Nile": frozenset({"Alexandria, Indiana"})}
        told = Graph(build_graph(corpus, tmp_path / "graphs", links))
        assert told.list_links(number["The Nile"]) == [number["Alexandria, Indiana"]]
        assert show_entity(graph, number["Alexandria, Indiana"]).aliases == (), "another Alexandria is not this one"


def test_links_of_a_corpus_tell_which_bearer_of_a_name_is_meant(tmp_path: Path, records: list[dict[str, str]]) -> None:
    links = tmp_path / "links.jsonl"
    links.write_text(json.dumps({"title": "Aldous Berrin", "links": [{"title": "Halcyon (ship)"}]}))
    with open_world(tmp_path, records) as corpus:
        graph, number = graph_of(corpus, tmp_path / "graphs", links)
        assert number["Halcyon (ship)"] in graph.list_links(number["Aldous Berrin"])
        assert number["Halcyon (bird)"] not in graph.list_links(number["Aldous Berrin"])


def test_each_attribute_and_link_stands_in_its_document(tmp_path: Path) -> None:
    with open_world(tmp_path, list_records()) as corpus:
        texts = {found.source.url: corpus.read_text(found.source) for found in corpus.list_documents()}
        graph = Graph(build_graph(corpus, tmp_path / "graphs"))
        stated = [
            graph.find_passage(number)
            for node in sorted(graph.nodes)
            for number in [
                *(found.passage for found in graph.list_attributes(node)),
                *(passage for other in graph.list_links(node) for passage in graph.list_stating(node, other)),
            ]
        ]
        assert len(stated) > 300
        assert all(texts[passage.url][passage.start : passage.end] == passage.text for passage in stated)


def test_what_sentences_say_is_read_by_rules(tmp_path: Path, records: list[dict[str, str]]) -> None:
    with open_world(tmp_path, records) as corpus:
        graph, number = graph_of(corpus, tmp_path / "graphs")

        def read(title: str, kind: AttributeKind) -> list[object]:
            return [one.value or one.number for one in graph.list_attributes(number[title]) if one.kind is kind]

        assert read("Aldous Berrin", AttributeKind.KIND) == ["sailor", "writer"]
        assert read("Aldous Berrin", AttributeKind.YEAR) == [1904.0]
        assert read("沈墨言", AttributeKind.KIND) == ["诗人"]
        assert read("沈墨言", AttributeKind.YEAR) == [1810.0, 1870.0]


def test_a_graph_is_built_once_for_a_state_of_its_index(tmp_path: Path, records: list[dict[str, str]]) -> None:
    with open_world(tmp_path, records) as corpus:
        first = build_graph(corpus, tmp_path / "graphs")
        built = first.stat().st_mtime_ns
        assert build_graph(corpus, tmp_path / "graphs").stat().st_mtime_ns == built
        assert corpus.generation in first.name


def test_a_graph_with_other_links_is_another_graph(tmp_path: Path, records: list[dict[str, str]]) -> None:
    with open_world(tmp_path, records) as corpus:
        links = ({}, {"Berrin's Log": frozenset({"Halcyon (ship)"})}, {"Berrin's Log": frozenset({"Halcyon (bird)"})})
        built = [build_graph(corpus, tmp_path / "graphs", each) for each in links]
        assert len(set(built)) == len(links)
        assert build_graph(corpus, tmp_path / "graphs", links[1]) == built[1]
