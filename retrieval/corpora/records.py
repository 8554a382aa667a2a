"""Corpora of records: JSON lines or tab-separated passages. Consecutive passages of a document are joined again.

Research corpora have passages of about a hundred words. A joined document can be read beyond a found passage, its passages end
with sentences, and it is stored once, with one address.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.domain.evidence import Source, snapshot_hash
from retrieval.corpora.corpus_lines import CorpusLine, read_lines
from retrieval.corpora.ports import UnreadableItem
from retrieval.corpora.record import TSV_COLUMNS, CorpusRecord, parse_json, parse_tab_separated, unquote_value
from retrieval.corpora.shards import Shards
from retrieval.ports import Document

MAX_DOCUMENT_CHARS = 5_000_000
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", '."', ".”")


@dataclass(frozen=True)
class RecordKind:
    """The meaning of one kind of records.

    `address` makes the address of a record without one, from the collection's name and the record. `document` returns the name
    of a record's document: consecutive records with the same name are one document. `untitled` makes the title of a record
    without one, from the record and its document's text.
    """

    source_kind: str
    licence: str
    address: Callable[[str, CorpusRecord], str]
    document: Callable[[CorpusRecord], str]
    untitled: Callable[[CorpusRecord, str], str]


class RecordCorpus:
    """The records in the file at `path`, or in a folder's files."""

    def __init__(self, path: Path, name: str, kind: RecordKind) -> None:
        self._shards = Shards(path, (".jsonl", ".json", ".tsv"))
        self._name = name
        self._kind = kind

    def read_documents(self, skip: int = 0) -> Iterator[Document | UnreadableItem]:
        """Yield one document for its consecutive records, and a report for a line that is not a usable record."""
        for number, item in enumerate(self._group_records()):
            if number >= skip:
                yield item if isinstance(item, UnreadableItem) else self._join_document(item)

    def take_fingerprint(self) -> str:
        """See `Shards.state`."""
        return self._shards.take_fingerprint()

    def share_read(self) -> float:
        """See `Shards.share_read`."""
        return self._shards.share_read()

    def _group_records(self) -> Iterator[list[CorpusRecord] | UnreadableItem]:
        group: list[CorpusRecord] = []
        chars = 0
        for item in _parse_lines(read_lines(self._shards)):
            if isinstance(item, UnreadableItem):
                yield item
                continue
            if group and (self._kind.document(item) != self._kind.document(group[0]) or chars > MAX_DOCUMENT_CHARS):
                yield group
                group, chars = [], 0
            group.append(item)
            chars += len(item.text)
        if group:
            yield group

    def _join_document(self, records: list[CorpusRecord]) -> Document:
        first, text = records[0], _join_passages([record.text for record in records])
        source = Source(
            url=first.url or self._kind.address(self._name, first),
            title=first.title or self._kind.untitled(first, text),
            snapshot=snapshot_hash(text),
            author=first.author[:200],
            published=first.published,
            licence=first.licence or self._kind.licence,
            kind=self._kind.source_kind,
        )
        return Document(source=source, text=text)


def _parse_lines(lines: Iterator[CorpusLine | UnreadableItem]) -> Iterator[CorpusRecord | UnreadableItem]:
    file, parse = "", parse_json
    for line in lines:
        if isinstance(line, UnreadableItem):
            yield line
            continue
        if line.file != file:
            file, parse = line.file, parse_json
            if ".tsv" in file.lower():
                columns = _columns_of(line)
                parse = partial(parse_tab_separated, columns=columns or TSV_COLUMNS)
                if columns:
                    continue
        yield parse(line)


def _columns_of(line: CorpusLine) -> list[str]:
    """Return the column names of a tab-separated file's first line; none where it is no header."""
    header = line.content.decode("utf-8-sig", errors="replace").strip().lower()
    names = [unquote_value(name) for name in header.split("\t")]
    return names if "text" in names and "id" in names else []


def _join_passages(texts: list[str]) -> str:
    """Join passages: with a paragraph's gap after a full sentence, else with a space."""
    whole = [texts[0]]
    for text in texts[1:]:
        whole += ["\n\n" if whole[-1].endswith(_SENTENCE_ENDS) else " ", text]
    return "".join(whole)
