"""The opened state of retrieval: store, catalogue and index of one home."""

from dataclasses import dataclass
from pathlib import Path

from retrieval.index.ports import Index
from retrieval.store.catalogue import Catalogue
from retrieval.store.database import StoreDatabase
from retrieval.store.documents import DocumentStore
from retrieval.store.screened import ScreenedDocuments


@dataclass(frozen=True)
class RetrievalHome:
    """The stores under `<home>/retrieval`. An index on a Qdrant server has no `index_folder`."""

    database: StoreDatabase
    catalogue: Catalogue
    store: DocumentStore
    screened: ScreenedDocuments
    index: Index
    index_folder: Path | None

    def close(self) -> None:
        """Close the database; indexes close with their last user."""
        self.database.close()


def open_retrieval_home(
    home: Path, qdrant_url: str | None = None, grpc_port: int | None = None, prefix: str | None = None
) -> RetrievalHome:
    """Open or create the state under `home`. `qdrant_url` names a Qdrant server to use instead of the engine in process.

    With `grpc_port` it uses gRPC. Names there begin with `prefix` and a dot.
    """
    folder = home / "retrieval"
    database = StoreDatabase(folder / "store.db")
    index_folder = None if qdrant_url else folder / "index"
    index = _index_of(folder, qdrant_url, grpc_port, prefix)
    return RetrievalHome(database, Catalogue(database), DocumentStore(database), ScreenedDocuments(database), index, index_folder)


def _index_of(folder: Path, qdrant_url: str | None, grpc_port: int | None, prefix: str | None) -> Index:
    if qdrant_url:
        from retrieval.index.server import PREFIX, ServerIndex

        return ServerIndex(qdrant_url, grpc_port, f"{prefix}." if prefix else PREFIX)
    from retrieval.index.edge import EdgeIndex

    return EdgeIndex(folder / "index")
