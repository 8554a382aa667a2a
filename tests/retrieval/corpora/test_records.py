"""Corpora of records: passages of research, papers, JSON lines."""

import gzip
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from app.domain.evidence import snapshot_hash
from retrieval.corpora.kinds import open_corpus
from retrieval.corpora.ports import Corpus, UnreadableItem
from retrieval.ports import Document
from retrieval.store.catalogue import Collection, CorpusKind

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data sets are not on this machine")


def opened(kind: CorpusKind, path: Path) -> Corpus:
    return open_corpus(Collection(name="set", kind=kind, path=str(path)))


def read(kind: CorpusKind, path: Path) -> tuple[list[Document], list[UnreadableItem]]:
    items = list(opened(kind, path).read_documents())
    return [i for i in items if isinstance(i, Document)], [i for i in items if isinstance(i, UnreadableItem)]


def write(path: Path, records: Sequence[Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def test_dpr_passages_become_articles_again(tmp_path: Path) -> None:
    path = tmp_path / "psgs_w100.tsv.gz"
    rows = [
        "id\ttext\ttitle",
        '1\t"Aaron was the ""brother"" of Moses and he"\tAaron',
        "2\tspoke for him. He died.\tAaron",
        "3\tA letter.\tÀ la carte",
        "4\tbroken",
    ]
    with gzip.open(path, "wt") as file:
        file.write("\n".join(rows))
    documents, unreadable = read(CorpusKind.WIKIPEDIA_PASSAGES, path)
    assert [document.text for document in documents] == [
        'Aaron was the "brother" of Moses and he spoke for him. He died.',
        "A letter.",
    ]
    assert [document.source.url for document in documents] == [
        "https://en.wikipedia.org/wiki/Aaron",
        "https://en.wikipedia.org/wiki/%C3%80_la_carte",
    ]
    assert {document.source.licence for document in documents} == {"CC BY-SA 3.0"}
    assert unreadable == [UnreadableItem("psgs_w100.tsv.gz:5", "has 2 columns, not 3")]


def test_json_passages_with_the_title_in_their_first_line(tmp_path: Path) -> None:
    records = [
        {"id": "0", "contents": '"Aaron"\nHe spoke.'},
        {"id": "1", "contents": '"Aaron"\nHe died.'},
        {"id": "2", "contents": '"Abba"\nA band.'},
        {"id": "3", "contents": '"Empty"\n'},
    ]
    documents, unreadable = read(CorpusKind.WIKIPEDIA_PASSAGES, write(tmp_path / "wiki-18.jsonl", records))
    assert [(document.source.title, document.text) for document in documents] == [
        ("Aaron", "He spoke.\n\nHe died."),
        ("Abba", "A band."),
    ]
    assert [entry.reason for entry in unreadable] == ["has no text besides its title"]


def test_papers_have_their_page_their_date_and_their_licence(tmp_path: Path) -> None:
    records = [
        {
            "id": "177",
            "text": "Graph Attention\n\nWe present.",
            "created": "2018-02-04T00:00:00",
            "source": "s2orc",
            "version": "v3",
        },
        {"id": "0", "paper_id": "9", "title": "T", "text": "First part of it", "year": 2020, "authors": [{"name": "Ada"}, "Bo"]},
        {"id": "1", "paper_id": "9", "title": "T", "text": "and its second.", "year": 2020, "license": "CC BY"},
    ]
    (one, two), unreadable = read(CorpusKind.PAPERS, write(tmp_path / "raw_passages-0-of-16.jsonl", records))
    assert unreadable == []
    assert (one.source.url, one.source.title) == ("https://api.semanticscholar.org/CorpusID:177", "Graph Attention")
    assert (str(one.source.published), one.source.licence, one.source.kind) == ("2018-02-04", "ODC-By 1.0", "paper")
    assert (two.text, two.source.url) == ("First part of it and its second.", "https://api.semanticscholar.org/CorpusID:9")
    assert (str(two.source.published), two.source.author) == ("2020-01-01", "Ada, Bo")


def test_a_record_commands_nothing_and_turns_no_direction(tmp_path: Path) -> None:
    record = {"id": "1", "title": "T\u202ext", "text": "He\x1b[2J said\u2066 so\u2028and left.", "authors": ["A\u202eda"]}
    (found,), _ = read(CorpusKind.RECORDS, write(tmp_path / "a.jsonl", [record]))
    assert (found.source.title, found.text, found.source.author) == ("Txt", "He[2J said so\nand left.", "Ada")


def test_shards_are_read_in_the_order_of_their_numbers_and_damage_is_told(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        write(tmp_path / f"train-{number}.jsonl", [{"id": f"{number}", "text": f"Shard {number}."}])
    cut = gzip.compress(b"\n".join(json.dumps({"id": str(n), "text": f"{n * 7919} " * 50}).encode() for n in range(900)))
    (tmp_path / "train-3.json.gz").write_bytes(cut[: len(cut) // 2])
    (tmp_path / "train-4.jsonl").write_bytes(
        b'[1]\n{"id": 1}\n{"text": "x"}\nno json\n{"id": "s", "text": "lone \\ud800 surrogate"}\n'
    )
    (tmp_path / "README.md").write_text("Not a shard.")
    documents, unreadable = read(CorpusKind.RECORDS, tmp_path)
    texts = [document.text for document in documents]
    assert (texts[0], texts[1], texts[-1]) == ("Shard 1.", "Shard 2.", "Shard 10.")
    assert texts[-2] == "lone ? surrogate"
    assert any("cut off or damaged after line" in entry.reason for entry in unreadable)
    assert [entry.path for entry in unreadable if "train-4" in entry.path] == [f"train-4.jsonl:{n}" for n in (1, 2, 3, 4)]


@pytest.mark.parametrize("depth", [1_020, 200_000])  # one is too deep for its text to be printed, one to be parsed
def test_a_line_that_is_nested_too_deeply_is_reported_and_the_rest_is_read(tmp_path: Path, depth: int) -> None:
    deep = '{"id": "1", "title": "T", "text": ' + "[" * depth + "]" * depth + "}"
    (tmp_path / "a.jsonl").write_text(f'{deep}\n{{"id": "2", "text": "Sound."}}\n')
    documents, unreadable = read(CorpusKind.RECORDS, tmp_path)
    assert [document.text for document in documents] == ["Sound."]
    assert unreadable == [UnreadableItem("a.jsonl:1", "is nested too deeply")]


@pytest.mark.parametrize("start", [b"\xef\xbb\xbf", b""])
@pytest.mark.parametrize("header", ["id\ttitle\ttext", '"ID"\t"Title"\t"Text"'])
def test_a_header_is_known_behind_a_byte_order_mark_and_in_quotes(tmp_path: Path, start: bytes, header: str) -> None:
    (tmp_path / "a.tsv").write_bytes(start + f"{header}\n1\tAaron\tHe spoke.\n".encode())
    (document,), unreadable = read(CorpusKind.RECORDS, tmp_path)
    assert (document.source.title, document.text, unreadable) == ("Aaron", "He spoke.", [])


def test_a_byte_order_mark_is_no_part_of_the_first_record(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"\xef\xbb\xbf1\tHe spoke.\tAaron\n")
    (document,), unreadable = read(CorpusKind.BEIR, tmp_path / "a.tsv")
    assert (document.source.url, document.source.title, unreadable) == ("beir:set/1", "Aaron", [])


def test_reading_can_go_on_anywhere_and_knows_how_far_it_is(tmp_path: Path) -> None:
    records = [{"id": str(n), "doc_id": str(n // 3), "title": "T", "text": f"Passage {n}."} for n in range(300)]
    corpus = opened(CorpusKind.RECORDS, write(tmp_path / "passages.jsonl", records))
    whole = list(corpus.read_documents())
    assert len(whole) == 100
    assert corpus.share_read() == 1.0
    assert list(corpus.read_documents(skip=37)) == whole[37:]
    before = corpus.take_fingerprint()
    write(tmp_path / "passages.jsonl", records[:-1])
    assert opened(CorpusKind.RECORDS, tmp_path / "passages.jsonl").take_fingerprint() != before


@needs_data
@pytest.mark.parametrize(
    ("file", "address", "articles"),
    [
        ("wiki_en/passages.jsonl.gz", "https://en.wikipedia.org/wiki?curid=12", "Anarchism"),
        ("wiki_en/articles_full.jsonl.gz", "https://en.wikipedia.org/wiki?curid=307", "Abraham Lincoln"),
        ("wiki_zh/articles.jsonl.gz", "https://zh.wikipedia.org/wiki?curid=5282621", "车轮战 (棋类)"),
    ],
)
def test_the_shared_wikipedias_are_read(file: str, address: str, articles: str) -> None:
    first, second = (
        item for item in islice(opened(CorpusKind.RECORDS, DATA / file).read_documents(), 2) if isinstance(item, Document)
    )
    assert (first.source.url, first.source.title) == (address, articles)
    assert first.source.url != second.source.url
    assert first.source.snapshot == snapshot_hash(first.text)


@needs_data
def test_passages_of_one_shared_article_are_one_document() -> None:
    items = list(opened(CorpusKind.WIKIPEDIA_PASSAGES, DATA / "wiki_en" / "passages.jsonl.gz").read_documents())
    documents = [item for item in items if isinstance(item, Document)]
    assert len(documents) == len({document.source.url for document in documents}) == 26_737
    assert len(items) == len(documents)
