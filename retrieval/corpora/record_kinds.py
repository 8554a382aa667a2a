"""The kinds of record corpora, with their addresses, licences and documents."""

from urllib.parse import quote

from app.domain.query import detect_language
from retrieval.corpora.record import CorpusRecord
from retrieval.corpora.records import RecordKind

_TITLE_CHARS = 150


def _document_of(record: CorpusRecord) -> str:
    return record.of or record.url or record.title or record.identity


def _paper_of(record: CorpusRecord) -> str:
    return record.of or record.identity or record.url


def _identity_of(record: CorpusRecord) -> str:
    return record.identity


def _first_line_of(_: CorpusRecord, text: str) -> str:
    """Return a text's first line, which can stand for a title."""
    line = text.partition("\n")[0].strip()
    return line if len(line) <= _TITLE_CHARS else f"{line[:_TITLE_CHARS].rsplit(' ', 1)[0]} …"


def _number_of(record: CorpusRecord, _: str) -> str:
    return record.identity


def _make_address(scheme: str, name: str, identity: str) -> str:
    return f"{scheme}:{quote(name)}/{quote(identity)}"


def wikipedia_address_of(title: str) -> str:
    """Return the address of the article with this title, in the Chinese Wikipedia for a Chinese title, else the English."""
    return f"https://{detect_language(title).value}.wikipedia.org/wiki/{quote(title.replace(' ', '_'), safe='/:(),')}"


def _paper_address_of(name: str, record: CorpusRecord) -> str:
    """Return Semantic Scholar's page of a paper; peS2o and OpenScholar use its corpus number as the paper's id."""
    number = _paper_of(record)
    return f"https://api.semanticscholar.org/CorpusID:{number}" if number.isdigit() else _make_address("papers", name, number)


BEIR = RecordKind("passage", "", lambda name, record: _make_address("beir", name, record.identity), _identity_of, _number_of)
"""BEIR's corpora, in which every record is a document."""

RECORDS = RecordKind(
    "document",
    "",
    lambda name, record: _make_address("records", name, record.of or record.identity),
    _document_of,
    _first_line_of,
)
"""Any texts or passages with an id; see `retrieval.corpora.record` for the names of fields."""

WIKIPEDIA_PASSAGES = RecordKind(
    "encyclopedia", "CC BY-SA 3.0", lambda _, record: wikipedia_address_of(record.title), _document_of, _first_line_of
)
"""Passages of the 2018 Wikipedia, as research uses them: DPR's `psgs_w100.tsv`, `wiki-18.jsonl`."""

PAPERS = RecordKind("paper", "ODC-By 1.0", _paper_address_of, _paper_of, _first_line_of)
"""peS2o, and OpenScholar's passages of it."""
