"""What a corpus is to the builder."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from retrieval.ports import Document

KINDS = "Markdown, text, HTML, PDF, Word, PowerPoint, Excel, EPUB and CSV"
"""The kinds of files of their own that people can have read."""


class Unreadable(NamedTuple):
    """Something that was skipped, and why; `path` is relative to the corpus."""

    path: str
    reason: str


class Corpus(Protocol):
    """A readable set of documents.

    Raises:
        InvalidInput: the corpus as a whole is not there or not of this kind.
    """

    def documents(self, skip: int = 0) -> Iterator[Document | Unreadable]:
        """Everything in it after the first `skip`, always in the same order."""
        ...

    def state(self) -> str:
        """Changes when the corpus may have changed; empty where that cannot be told without reading it."""
        ...

    def share_read(self) -> float:
        """How much of it has been read, from 0 to 1; 0 where that is not known."""
        ...
