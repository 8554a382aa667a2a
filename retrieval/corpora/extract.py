"""The result of a reader of one file format."""

from datetime import date
from typing import NamedTuple


class Extract(NamedTuple):
    """A file's readable text, with blank lines between paragraphs, and the file's own metadata.

    `note` says what is missing from an incomplete text. Readers raise `SourceUnreadable` with the reason.
    """

    text: str
    title: str = ""
    author: str = ""
    published: date | None = None
    note: str = ""
