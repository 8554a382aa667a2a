"""What a builder does last: it screens every passage for orders to machines, once and for all runs.

Searches do not wait for it: whoever gets a passage that is not screened yet screens it.
"""

import logging
import sqlite3
from collections.abc import Iterator

from app.domain.evidence import Passage
from retrieval.building.build import RECIPE, split_batches
from retrieval.building.chunking import split_passages
from retrieval.store.documents import DocumentStore, StoredDocument, StoredState
from retrieval.store.home import RetrievalHome
from retrieval.store.screened import Orders
from retrieval.untrusted.passages import find_orders, finder_version

BATCH_DOCUMENTS = 16
_log = logging.getLogger(__name__)


def name_finder(recipe: str = RECIPE) -> str:
    """Return the name under which orders are stored in passages that were made by this recipe."""
    return f"{recipe} {finder_version()}"


def screen_documents(shelves: RetrievalHome, collection: str) -> None:
    """Screen the indexed documents of a collection that are not screened. A store that takes no more ends this, and no build."""
    finder = name_finder()
    try:
        for batch in split_batches(_list_unscreened(shelves, collection, finder), BATCH_DOCUMENTS):
            found = {document.key: _find_orders_of(shelves.store, document) for document in batch}
            shelves.screened.keep(collection, found, finder)
        shelves.screened.keep_whole(collection, finder)
    except sqlite3.Error as error:
        _log.warning("the passages of %r are not screened: %s", collection, error)


def _list_unscreened(shelves: RetrievalHome, collection: str, finder: str) -> Iterator[StoredDocument]:
    for document in shelves.store.list_documents(collection, StoredState.LIVE):
        if shelves.screened.find(collection, document.key, finder) is None:
            yield document


def _find_orders_of(store: DocumentStore, document: StoredDocument) -> Orders:
    """Return the orders in a document's passages."""
    text = store.text_of(document.source.snapshot)
    spans = split_passages(text, store.blocks_of(document.source.collection, document.key))
    passages = (Passage(source=document.source, text=text[start:end], start=start, end=end) for start, end in spans)
    found = {str(passage.start): find_orders(passage) for passage in passages}
    return {start: names for start, names in found.items() if names}
