"""The interface of a corpus for the builder."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from retrieval.ports import Document

READABLE_KINDS = "Markdown, text, HTML, PDF, Word, PowerPoint, Excel, EPUB, e-mail (.eml) and CSV"
"""The readable kinds of users' files."""


class UnreadableItem(NamedTuple):
    """A skipped item and the reason; `path` is relative to the corpus."""

    path: str
    reason: str


class Corpus(Protocol):
    """A readable set of documents.

    Raises:
        InvalidInput: the corpus does not exist or is not of this kind.
    """

    def read_documents(self, skip: int = 0) -> Iterator[Document | UnreadableItem]:
        """Yield everything in it after the first `skip` items, always in the same order."""
        ...

    def take_fingerprint(self) -> str:
        """Return a mark that changes when the corpus may have changed; empty where only reading it could tell."""
        ...

    def share_read(self) -> float:
        """Return the share that has been read, from 0 to 1; 0 where it is unknown."""
        ...
