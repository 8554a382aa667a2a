"""The result of a reader of one file format."""

from datetime import date
from typing import NamedTuple

from app.domain.blocks import Block
from retrieval.corpora.marks import take_marks
from retrieval.language.document_date import find_date_in_name, find_date_in_text


class Extract(NamedTuple):
    """A file's readable text, with blank lines between paragraphs, and the file's own metadata.

    `published` is the date that the document states where programs read it (a mail's header, front matter), `changed` the day of
    its last change as its program noted it. `note` says what is missing from an incomplete text. Readers raise
    `SourceUnreadable` with the reason.
    """

    text: str
    title: str = ""
    author: str = ""
    published: date | None = None
    changed: date | None = None
    note: str = ""
    blocks: tuple[Block, ...] = ()

    def find_date(self, name: str) -> date | None:
        """Return the document's date: what it states, else its title, its file's name or its text, else its last change."""
        return self.published or find_date_in_name(self.title, name) or find_date_in_text(self.text) or self.changed

    def read_marks(self) -> "Extract":
        """Return the extract with its text without marks (`marks`), and the blocks of it."""
        text, blocks = take_marks(self.text)
        return self._replace(text=text, blocks=blocks)
