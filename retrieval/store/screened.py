"""What the documents of one home were found to order machines about, so that each passage is screened once."""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache

from app.domain.errors import NotFound
from app.domain.evidence import Passage
from retrieval.ports import ScreenedPassage
from retrieval.store.database import StoreDatabase
from retrieval.store.documents import document_key_of

_REMEMBERED = 8_192
"""Documents in memory, as many as sources."""
_WHOLE = ""
"""Stands for all documents of a collection."""
Orders = Mapping[str, tuple[str, ...]]
"""The names of orders by the offset of the passage that has them; most documents have none."""


class ScreenedDocuments:
    """The finds of a finder, which is named by its version and by the recipe of the passages that it read."""

    def __init__(self, database: StoreDatabase) -> None:
        self._db = database
        self._read = lru_cache(_REMEMBERED)(self._read_orders)

    def find(self, collection: str, document: str, finder: str) -> Orders | None:
        """Return the orders in a document; None where this finder has not read it."""
        try:
            return self._read(collection, document, finder)
        except NotFound:
            return None

    def _read_orders(self, collection: str, document: str, finder: str) -> Orders:
        query = "SELECT orders FROM screened WHERE collection = ? AND document = ? AND finder = ?"
        row = self._db.connect().execute(query, (collection, document, finder)).fetchone()
        if row is None:  # raised, so that it is not remembered
            raise NotFound(f"{document} in {collection} is not screened")
        return {start: tuple(names) for start, names in json.loads(row["orders"]).items()}

    def keep(self, collection: str, found: Mapping[str, Orders], finder: str) -> None:
        """Store the orders in documents, by the documents' keys."""
        rows = [(collection, key, finder, json.dumps(orders)) for key, orders in found.items()]
        with self._db.begin_transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO screened (collection, document, finder, orders) VALUES (?, ?, ?, ?)", rows
            )

    def keep_whole(self, collection: str, finder: str) -> None:
        """Note that all documents of a collection are screened, until one is added."""
        self.keep(collection, {_WHOLE: {}}, finder)

    def is_whole(self, collection: str, finder: str) -> bool:
        """Say whether all documents of a collection are screened."""
        with suppress(NotFound):
            self._read_orders(collection, _WHOLE, finder)
            return True
        return False

    def mark(self, passage: Passage, finder: str) -> Passage:
        """Return a passage with its orders, and as it is where this finder has not read its document."""
        orders = self.find(passage.source.collection, document_key_of(passage.source), finder)
        if orders is None:
            return passage
        return ScreenedPassage(**passage.__dict__, orders=orders.get(str(passage.start), ()))
