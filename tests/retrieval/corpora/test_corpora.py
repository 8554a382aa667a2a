import gzip
import json
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.domain.evidence import snapshot_hash
from retrieval.corpora.kinds import open_corpus
from retrieval.corpora.ports import Corpus, UnreadableItem
from retrieval.corpora.sotu import StateOfTheUnion
from retrieval.ports import Document
from retrieval.store.catalogue import Collection, CorpusKind


def opened(kind: str, path: Path) -> Corpus:
    return open_corpus(Collection(name="set", kind=CorpusKind(kind), path=str(path)))


def test_the_default_corpus_has_every_address_with_its_particulars() -> None:
    documents = [item for item in StateOfTheUnion().read_documents() if isinstance(item, Document)]
    assert len(documents) == len({document.source.url for document in documents}) == 249
    assert len({document.source.title for document in documents}) == 249
    assert all(document.source.snapshot == snapshot_hash(document.text) for document in documents)
    assert all(document.source.url.startswith("https://www.presidency.ucsb.edu/") for document in documents)
    first = documents[0].source
    assert first.title == "Annual Address to Congress, George Washington, January 8, 1790"
    assert (first.author, str(first.published)) == ("George Washington", "1790-01-08")
    assert "MIT" in first.licence
    days = [document.source.published for document in documents if document.source.published]
    assert len(days) == 249


def test_an_address_that_is_missing_is_reported(tmp_path: Path) -> None:
    header = "fileid,year,date,president_full,sotu_type,is_sotu,source_url\n"
    (tmp_path / "metadata.csv").write_text(header + "x,1900,1900-12-03,William McKinley,written,True,https://example.org/x\n")
    (item,) = StateOfTheUnion(tmp_path).read_documents()
    assert isinstance(item, UnreadableItem)
    assert item.path == "x.txt"


def test_beir_records_become_documents(tmp_path: Path) -> None:
    lines = [
        {"_id": "a/1", "title": "T", "text": "Text one."},
        {"_id": "2", "text": "Two.", "metadata": {"url": "https://x.example/2"}},
    ]
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt") as file:
        file.write("\n".join(map(json.dumps, lines)))
    one, two = (item for item in opened("beir", tmp_path).read_documents() if isinstance(item, Document))
    assert (one.source.url, one.source.title, one.text) == ("beir:set/a/1", "T", "Text one.")
    assert (two.source.url, two.source.title) == ("https://x.example/2", "2")


def test_a_cut_off_file_is_reported(tmp_path: Path) -> None:
    whole = gzip.compress("\n".join(json.dumps({"_id": str(n), "text": f"Text {n * 7919}"}) for n in range(500)).encode())
    (tmp_path / "corpus.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    items = list(opened("beir", tmp_path).read_documents())
    assert any(isinstance(item, UnreadableItem) and "cut off" in item.reason for item in items)
    assert len(items) > 10


def test_no_corpus_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no corpus"):
        opened("beir", tmp_path)
