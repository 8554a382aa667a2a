"""One record of a corpus of records, with any of the usual field names."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import orjson

from retrieval.corpora.lines import Line
from retrieval.corpora.ports import Unreadable
from retrieval.language.dates import read_date

_ID = ("_id", "id")
_OF = ("doc_id", "document_id", "paper_id", "pes2o_paper_id", "corpus_id", "corpusid")
_TEXT = ("text", "contents", "content")
_DATE = ("published", "created", "date", "publication_date", "timestamp", "year")
_LICENCE = ("licence", "license")
_AUTHOR = ("author", "authors")
_TITLE_CHARS = 300
TSV_COLUMNS = ("id", "text", "title")
"""The columns of DPR's passages, for a file without a header line."""


class Record(NamedTuple):
    """A text with its metadata; `of` names its document, where the record says so."""

    identity: str
    of: str
    title: str
    text: str
    url: str
    published: date | None
    licence: str
    author: str


def parse_json(line: Line) -> Record | Unreadable:
    """Read a record from a line of JSON."""
    try:
        fields = _loaded(line.content)
    except ValueError as error:
        return Unreadable(line.where, f"is not JSON ({error})")
    if not isinstance(fields, dict):
        return Unreadable(line.where, "is not a record (a JSON object)")
    about = fields.get("metadata")
    return _record(line.where, {**about, **fields} if isinstance(about, dict) else fields)


def parse_tab_separated(line: Line, columns: Sequence[str]) -> Record | Unreadable:
    """Read a record from a line of tab-separated values; a value may be quoted, with doubled quotes inside."""
    try:
        values = line.content.decode("utf-8").rstrip("\r\n").split("\t")
    except UnicodeDecodeError as error:
        return Unreadable(line.where, f"is not UTF-8 ({error.reason})")
    if len(values) != len(columns):
        return Unreadable(line.where, f"has {len(values)} columns, not {len(columns)}")
    return _record(line.where, dict(zip(columns, map(_unquoted, values), strict=True)))


def _loaded(content: bytes) -> Any:
    """Parse JSON; the slower parser accepts lone surrogates, which old corpora have."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)


def _record(where: str, fields: Mapping[str, Any]) -> Record | Unreadable:
    text, identity = _first(fields, _TEXT), _first(fields, _ID)
    of, url = _first(fields, _OF), _first(fields, ("url",))
    if not text:
        return Unreadable(where, "has no text")
    if not (identity or of or url):
        return Unreadable(where, "has no id")
    title = " ".join(_first(fields, ("title",)).split())
    if not title:
        title, text = _title_in(text)
    if not text:
        return Unreadable(where, "has no text besides its title")
    published = read_date(_first(fields, _DATE))
    return Record(identity, of, title[:_TITLE_CHARS], text, url, published, _first(fields, _LICENCE), _first(fields, _AUTHOR))


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first of these fields that is not empty, as text that a snapshot can hold."""
    for name in names:
        value = fields.get(name)
        if value not in (None, "", []):
            found = ", ".join(map(_named, value)) if isinstance(value, list) else str(value)
            return found.encode("utf-8", errors="replace").decode("utf-8").replace("\x00", "").strip()
    return ""


def _named(value: Any) -> str:
    """Return the name of an author, who is a string or an object with a name."""
    return str(value.get("name", "")) if isinstance(value, dict) else str(value)


def _title_in(text: str) -> tuple[str, str]:
    """Split off a quoted title on the text's first line; without one return no title and the text."""
    first, _, rest = text.partition("\n")
    if len(first) > 2 and first[0] == first[-1] == '"':
        return _unquoted(first), rest.strip()
    return "", text


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1].replace('""', '"')
    return value
