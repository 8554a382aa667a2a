"""The nodes of a report's document tree, from which every typeset format is made.

Text is a value in this tree, never markup: no format reads a title, a quotation or a model's words as an instruction.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.domain.value import Value


class Text(Value):
    """Plain words."""

    t: Literal["text"] = "text"
    text: str


class Code(Value):
    """Words of a program, in one line."""

    t: Literal["code"] = "code"
    text: str


class Break(Value):
    """A new line within a paragraph."""

    t: Literal["break"] = "break"


class Emphasis(Value):
    """Words with emphasis."""

    t: Literal["strong", "emph"]
    of: tuple[Inline, ...]


class Link(Value):
    """Words that link to the address of a cited source."""

    t: Literal["link"] = "link"
    url: str
    of: tuple[Inline, ...]


class Cite(Value):
    """The number of a reference. `first`: the reference links back to this one."""

    t: Literal["cite"] = "cite"
    n: int
    first: bool = False


Inline = Annotated[Text | Code | Break | Emphasis | Link | Cite, Field(discriminator="t")]


class Heading(Value):
    """A heading of level 1 (a section of the report) to 4."""

    t: Literal["heading"] = "heading"
    level: int = Field(ge=1, le=4)
    of: tuple[Inline, ...]


class Paragraph(Value):
    """A paragraph."""

    t: Literal["paragraph"] = "paragraph"
    of: tuple[Inline, ...]


class Notice(Value):
    """A plain statement about the report that must not be overlooked."""

    t: Literal["notice"] = "notice"
    text: str


class Preformatted(Value):
    """Lines whose breaks and blanks count."""

    t: Literal["lines"] = "lines"
    lines: tuple[str, ...]


class Quotation(Value):
    """Words of another author, set apart."""

    t: Literal["quotation"] = "quotation"
    blocks: tuple[Block, ...]


class Items(Value):
    """A list; `start` is the first number, None for bullets."""

    t: Literal["list"] = "list"
    start: int | None = None
    items: tuple[tuple[Block, ...], ...]


class Table(Value):
    """A table: `shares` divide its width among the columns (they add up to 1). A `wide` one gets a landscape page."""

    t: Literal["table"] = "table"
    head: tuple[tuple[Inline, ...], ...]
    rows: tuple[tuple[tuple[Inline, ...], ...], ...]
    align: tuple[Literal["left", "center", "right"], ...]
    shares: tuple[float, ...]
    wide: bool = False


class Divider(Value):
    """A thematic break."""

    t: Literal["divider"] = "divider"


Block = Annotated[Heading | Paragraph | Notice | Preformatted | Quotation | Items | Table | Divider, Field(discriminator="t")]


class QuotedWords(Value):
    """The exact words that a number of the report stands for; `where` says where the stored copy has them."""

    n: int
    text: str
    where: str


class Reference(Value):
    """A cited document with all its quotations.

    `url` is empty for a source that is not on the web; then `place` names it, unless its title does; `address` is the URL in
    ASCII, for links. `stored_copy` names the copy that the quotations stand in.
    """

    title: str
    about: str = ""
    url: str = ""
    address: str = ""
    place: str = ""
    stored_copy: str
    quotes: tuple[QuotedWords, ...]


class Labels(Value):
    """The fixed words of a document, in its language."""

    question: str
    contents: str
    sources: str
    note: str
    back: str
    legend: str = ""


class ReportDocument(Value):
    """A whole report, ready to be typeset."""

    title: str
    question: str = ""
    language: str
    date: str
    blocks: tuple[Block, ...]
    references: tuple[Reference, ...] = ()
    labels: Labels


for _model in (Emphasis, Link, Heading, Paragraph, Quotation, Items, Table, ReportDocument):
    _model.model_rebuild()
