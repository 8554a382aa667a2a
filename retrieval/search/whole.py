"""Collections that are short enough to be read whole: nothing has to be searched in them."""

from datetime import date

from app.domain.evidence import Source
from retrieval.ports import Document, SearchFilter
from retrieval.search.library import Library
from retrieval.store.documents import DocumentStore, StoredState


class WholeCollections:
    """Reads all documents of collections, as far as they are not too long together."""

    def __init__(self, library: Library, documents: DocumentStore) -> None:
        self._library = library
        self._documents = documents

    def read(self, where: SearchFilter, most_chars: int) -> list[Document] | None:
        """Return the documents that a filter's tenant may search, in the order of reading; None where their texts together are
        longer than `most_chars` characters. Raises `NotFound` where there is no such collection.
        """
        found: list[Document] = []
        for name in self._library.list_permitted(where):
            for state in (StoredState.LIVE, StoredState.NEW):
                for stored in self._documents.list_documents(name, state):
                    if not _holds_day(where, stored.source):
                        continue
                    text = self._documents.text_of(stored.source.snapshot)
                    most_chars -= len(text)
                    if most_chars < 0:
                        return None
                    found.append(Document(source=stored.source, text=text, blocks=self._documents.blocks_of(name, stored.key)))
        return found


def _holds_day(where: SearchFilter, source: Source) -> bool:
    if where.published_from is None and where.published_to is None:
        return True
    day = source.published
    return day is not None and (where.published_from or date.min) <= day <= (where.published_to or date.max)
