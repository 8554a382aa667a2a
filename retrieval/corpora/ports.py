"""What a corpus is to the builder."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from retrieval.ports import Document


class Unreadable(NamedTuple):
    """Something that was skipped, and why; `path` is relative to the corpus."""

    path: str
    reason: str


class Corpus(Protocol):
    """A readable set of documents.

    Raises:
        InvalidInput: the corpus as a whole is not there or not of this kind.
    """

    def documents(self) -> Iterator[Document | Unreadable]:
        """Everything in it, always in the same order."""
        ...
