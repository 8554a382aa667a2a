"""What a reader of one file format gives."""

from datetime import date
from typing import NamedTuple


class Extract(NamedTuple):
    """A file's readable text, paragraphs parted by blank lines, and what the file says of itself.

    `note` tells what is missing where not all could be read. Readers raise `SourceUnreadable` with the reason.
    """

    text: str
    title: str = ""
    author: str = ""
    published: date | None = None
    note: str = ""
