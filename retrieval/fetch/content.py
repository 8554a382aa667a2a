"""The kinds of pages that are read, and their readable content."""

from datetime import date

from app.domain.blocks import KeptBlocks
from app.domain.value import Value

HTML = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})
PDF = frozenset({"application/pdf", "application/x-pdf"})
PLAIN = frozenset({"text/plain", "text/markdown", "text/csv"})
READABLE = HTML | PDF | PLAIN | {"application/octet-stream", "binary/octet-stream"}


class ReadableContent(Value):
    """The content of a page that its reader sees. `hidden` is the rest: inspect it, and never show it.

    `note` says what the reader must know of an incomplete reading.
    """

    text: str
    title: str = ""
    author: str = ""
    published: date | None = None
    kind: str = "web page"
    hidden: str = ""
    note: str = ""
    blocks: KeptBlocks = ()
