"""What kinds of pages are read, and what is made of them."""

from datetime import date

from app.domain.value import Value

HTML = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml"})
PDF = frozenset({"application/pdf", "application/x-pdf"})
PLAIN = frozenset({"text/plain", "text/markdown", "text/csv"})
READABLE = HTML | PDF | PLAIN | {"application/octet-stream", "binary/octet-stream"}


class Readable(Value):
    """What a reader of the page would see. `hidden` is what they would not: never to be shown, only to be inspected."""

    text: str
    title: str = ""
    author: str = ""
    published: date | None = None
    kind: str = "web page"
    hidden: str = ""
