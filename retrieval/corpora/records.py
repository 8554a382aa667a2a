"""Corpora that come as records: JSON lines or tab-separated passages. Consecutive passages of one document are put together again.

Research cuts its corpora into passages of a hundred words or so. Put together, a passage that is found can be read on in, the search
cuts at sentences, and a document is stored once, with one address.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from app.domain.evidence import Source, snapshot_hash
from retrieval.corpora.line_files import Line, LineFiles, found_files
from retrieval.corpora.ports import Unreadable
from retrieval.corpora.record import TSV_COLUMNS, Record, parse_json, parse_tab_separated
from retrieval.ports import Document

MAX_DOCUMENT_CHARS = 5_000_000
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？", '."', ".”")


@dataclass(frozen=True)
class RecordKind:
    """What one kind of records means.

    `address` gives the address of a record that states none, from the collection's name and the record; `document` names the
    document a record is part of: consecutive records of the same name are one document.
    """

    source_kind: str
    licence: str
    address: Callable[[str, Record], str]
    document: Callable[[Record], str]


class RecordCorpus:
    """The records in the file at `path`, or in a folder's files."""

    def __init__(self, path: Path, name: str, kind: RecordKind) -> None:
        self._files = LineFiles(found_files(path, (".jsonl", ".json", ".tsv")))
        self._name = name
        self._kind = kind

    def documents(self, skip: int = 0) -> Iterator[Document | Unreadable]:
        """One document for the consecutive records of one; a line that is not a usable record is reported."""
        for number, item in enumerate(self._grouped()):
            if number >= skip:
                yield item if isinstance(item, Unreadable) else self._document(item)

    def state(self) -> str:
        """See `LineFiles.state`."""
        return self._files.state()

    def share_read(self) -> float:
        """See `LineFiles.share_read`."""
        return self._files.share_read()

    def _grouped(self) -> Iterator[list[Record] | Unreadable]:
        group: list[Record] = []
        chars = 0
        for item in _parsed(self._files.lines()):
            if isinstance(item, Unreadable):
                yield item
                continue
            if group and (self._kind.document(item) != self._kind.document(group[0]) or chars > MAX_DOCUMENT_CHARS):
                yield group
                group, chars = [], 0
            group.append(item)
            chars += len(item.text)
        if group:
            yield group

    def _document(self, records: list[Record]) -> Document:
        first, text = records[0], _joined([record.text for record in records])
        source = Source(
            url=first.url or self._kind.address(self._name, first),
            title=first.title or _opening(text) or first.identity,
            snapshot=snapshot_hash(text),
            author=first.author[:200],
            published=first.published,
            licence=first.licence or self._kind.licence,
            kind=self._kind.source_kind,
        )
        return Document(source=source, text=text)


def _parsed(lines: Iterator[Line | Unreadable]) -> Iterator[Record | Unreadable]:
    file, parse = "", parse_json
    for line in lines:
        if isinstance(line, Unreadable):
            yield line
            continue
        name = line.where.rpartition(":")[0]
        if name != file:
            file, parse = name, parse_json
            if ".tsv" in name.lower():
                columns = _columns(line)
                parse = partial(parse_tab_separated, columns=columns or TSV_COLUMNS)
                if columns:
                    continue
        yield parse(line)


def _columns(line: Line) -> list[str]:
    """The names in a tab-separated file's first line, if it has names."""
    names = line.content.decode("utf-8", errors="replace").strip().lower().split("\t")
    return names if "text" in names and "id" in names else []


def _joined(texts: list[str]) -> str:
    """Passages put together: with a paragraph's gap after a full sentence, else as one sentence running on."""
    whole = [texts[0]]
    for text in texts[1:]:
        whole += ["\n\n" if whole[-1].endswith(_SENTENCE_ENDS) else " ", text]
    return "".join(whole)


def _opening(text: str) -> str:
    """A text's first line, where it can stand for the title it lacks."""
    line = text.partition("\n")[0].strip()
    return line if len(line) <= 200 else f"{line[:120].rsplit(' ', 1)[0]} …"
