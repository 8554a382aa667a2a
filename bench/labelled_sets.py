"""Reads sets of queries with labelled documents, and writes their corpora in the form that collections are built from."""

import csv
import gzip
import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from retrieval.store.catalogue import Collection, CorpusKind

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
CHINESE_QUERIES = 500
WIKIPEDIA_PASSAGES = "wikipedia-passages"
_BRACKETS = re.compile(r"\s*[(（].*?[)）]\s*")
_CHINESE = re.compile(r"[\u3400-\u9fff]{2,12}")
Labels = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class LabelledSet:
    """Queries by id, and query -> document -> grade. `corpus` holds JSON lines, in which `document` names the document's id.

    `name` is that of its collection, and `kind` says how the product reads the corpus.
    """

    name: str
    queries: Mapping[str, str]
    labels: Labels
    corpus: Path
    document: str = "_id"
    titled: bool = True
    kind: CorpusKind = CorpusKind.BEIR

    def write_collection(self, folder: Path) -> Collection:
        """Write the corpus to `folder` as a collection whose addresses tell the documents' ids."""
        path = folder / self.name / "corpus.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as out:
            for number, record in enumerate(read_lines(self.corpus)):
                out.write(json.dumps(self._make_entry(number, record), ensure_ascii=False) + "\n")
        return Collection(name=self.name, kind=self.kind, path=str(path))

    def _make_entry(self, number: int, record: Mapping[str, Any]) -> dict[str, str]:
        identity = str(record[self.document])
        title = str(record.get("title") or identity) if self.titled else identity
        url = f"bench:{quote(identity, safe='')}"
        return {"_id": str(number), "doc_id": identity, "url": url, "title": title, "text": record["text"]}


def document_id_of(url: str) -> str:
    """Return the document that a search result belongs to."""
    return unquote(url.removeprefix("bench:"))


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a file of JSON lines, gzipped or not."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def read_labels(path: Path) -> dict[str, dict[str, int]]:
    """Read BEIR's labels: tab-separated query, document and grade, under a line of names. Only relevant ones are kept."""
    labels: dict[str, dict[str, int]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as rows:
        for query, document, grade in csv.reader(rows, delimiter="\t"):
            if grade.isdigit() and int(grade) > 0:
                labels[query][document] = int(grade)
    return dict(labels)


def load_beir(name: str, queries: Path, labels: Path, corpus: Path, document: str = "_id") -> LabelledSet:
    """Read a set in BEIR's files; queries without a label are left out."""
    grades = read_labels(labels)
    texts = {str(record["_id"]): str(record["text"]) for record in read_lines(queries)}
    return LabelledSet(name, {query: texts[query] for query in grades if query in texts}, grades, corpus, document)


def load_scifact(split: str = "test") -> LabelledSet:
    """Read claims, and the abstracts that bear on them."""
    folder = DATA / "scifact"
    return load_beir("scifact", folder / "queries.jsonl", folder / "qrels" / f"{split}.tsv", folder / "corpus.jsonl.gz")


def load_multihop() -> LabelledSet:
    """Read questions of two to four hops over pooled paragraphs."""
    folder = DATA / "multihop"
    return load_beir("multihop", folder / "queries.jsonl", folder / "qrels" / "test.tsv", folder / "corpus.jsonl.gz")


def load_wikipedia_passages() -> LabelledSet:
    """Read FRAMES: questions over several Wikipedia articles. Each article's first passages are documents of their own."""
    folder = DATA / "wiki_en"
    queries, labels = folder / "frames_queries.jsonl", folder / "frames_qrels.tsv"
    return load_beir(WIKIPEDIA_PASSAGES, queries, labels, folder / "passages.jsonl.gz", "doc_id")


def load_frames() -> LabelledSet:
    """Read FRAMES over articles, as the product reads a corpus of passages: those of one article are one document."""
    return replace(load_wikipedia_passages(), name="wikipedia-articles", kind=CorpusKind.RECORDS)


def load_chinese() -> LabelledSet:
    """Read titles of Chinese articles as queries for the articles, whose titles are withheld from the index.

    Taken are names of 2 to 12 ideographs that one article bears; what is in brackets is left off. A hash of the ids chooses.
    """
    corpus = DATA / "wiki_zh" / "articles.jsonl.gz"
    names = {str(record["id"]): _BRACKETS.sub("", record["title"]) for record in read_lines(corpus)}
    bearers = Counter(names.values())
    usable = [identity for identity, name in names.items() if _CHINESE.fullmatch(name) and bearers[name] == 1]
    chosen = sorted(usable, key=lambda identity: hashlib.sha256(identity.encode()).hexdigest())[:CHINESE_QUERIES]
    queries = {identity: names[identity] for identity in chosen}
    return LabelledSet("chinese", queries, {identity: {identity: 1} for identity in chosen}, corpus, "id", titled=False)


def take_half(whole: LabelledSet, half: int) -> LabelledSet:
    """Return one half of a set's queries, 0 or 1, by a hash of their ids."""
    kept = {query: text for query, text in whole.queries.items() if _half_of(query) == half}
    return replace(whole, queries=kept)


def _half_of(query: str) -> int:
    return int(hashlib.sha256(query.encode()).hexdigest(), 16) % 2
