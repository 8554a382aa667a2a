"""One record of a corpus of records, with any of the usual field names."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import orjson

from app.domain.safe_text import make_safe
from retrieval.corpora.corpus_lines import CorpusLine
from retrieval.corpora.ports import UnreadableItem
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


class CorpusRecord(NamedTuple):
    """A text with its metadata; `of` names its document, where the record says so."""

    identity: str
    of: str
    title: str
    text: str
    url: str
    published: date | None
    licence: str
    author: str


def parse_json(line: CorpusLine) -> CorpusRecord | UnreadableItem:
    """Read a record from a line of JSON."""
    try:
        return _parse_object(line)
    except RecursionError:
        return UnreadableItem(line.where, "is nested too deeply")


def _parse_object(line: CorpusLine) -> CorpusRecord | UnreadableItem:
    try:
        fields = _load_json(line.content)
    except ValueError as error:
        return UnreadableItem(line.where, f"is not JSON ({error})")
    if not isinstance(fields, dict):
        return UnreadableItem(line.where, "is not a record (a JSON object)")
    about = fields.get("metadata")
    return _record_of(line.where, {**about, **fields} if isinstance(about, dict) else fields)


def parse_tab_separated(line: CorpusLine, columns: Sequence[str]) -> CorpusRecord | UnreadableItem:
    """Read a record from a line of tab-separated values; a value may be quoted, with doubled quotes inside."""
    try:
        values = line.content.decode("utf-8-sig").rstrip("\r\n").split("\t")
    except UnicodeDecodeError as error:
        return UnreadableItem(line.where, f"is not UTF-8 ({error.reason})")
    if len(values) != len(columns):
        return UnreadableItem(line.where, f"has {len(values)} columns, not {len(columns)}")
    return _record_of(line.where, dict(zip(columns, map(unquote_value, values), strict=True)))


def _load_json(content: bytes) -> Any:
    """Parse JSON; the slower parser accepts lone surrogates, which old corpora have."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return json.loads(content)


def _record_of(where: str, fields: Mapping[str, Any]) -> CorpusRecord | UnreadableItem:
    text, identity = _first_field(fields, _TEXT), _first_field(fields, _ID)
    of, url = _first_field(fields, _OF), _first_field(fields, ("url",))
    if not text:
        return UnreadableItem(where, "has no text")
    if not (identity or of or url):
        return UnreadableItem(where, "has no id")
    title = " ".join(_first_field(fields, ("title",)).split())
    if not title:
        title, text = _split_title(text)
    if not text:
        return UnreadableItem(where, "has no text besides its title")
    published = read_date(_first_field(fields, _DATE))
    return CorpusRecord(
        identity, of, title[:_TITLE_CHARS], text, url, published, _first_field(fields, _LICENCE), _first_field(fields, _AUTHOR)
    )


def _first_field(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the first of these fields that is not empty, as text that a snapshot can hold."""
    for name in names:
        value = fields.get(name)
        if value not in (None, "", []):
            found = ", ".join(map(_name_of, value)) if isinstance(value, list) else str(value)
            return make_safe(found.encode("utf-8", errors="replace").decode("utf-8")).strip()
    return ""


def _name_of(value: Any) -> str:
    """Return the name of an author, who is a string or an object with a name."""
    return str(value.get("name", "")) if isinstance(value, dict) else str(value)


def _split_title(text: str) -> tuple[str, str]:
    """Split off a quoted title on the text's first line; without one return no title and the text."""
    first, _, rest = text.partition("\n")
    if len(first) > 2 and first[0] == first[-1] == '"':
        return unquote_value(first), rest.strip()
    return "", text


def unquote_value(value: str) -> str:
    """Return a tab-separated value without the quotes around it, if it has any."""
    if len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1].replace('""', '"')
    return value
