"""Own documents, in collections."""

from rubrica_client.models import Access, Collection, CollectionPage, DocumentPage, NewCollection, ReceivedFiles
from rubrica_client.request import UPLOAD, Files, Request


def collections(limit: int | None = None, before: str | None = None) -> Request[CollectionPage]:
    """List the collections that the caller may use, newest first."""
    return Request("GET", ("v1", "collections"), CollectionPage, query={"limit": limit, "before": before})


def collection(collection_id: str) -> Request[Collection]:
    """Return one collection."""
    return Request("GET", ("v1", "collections", collection_id), Collection)


def create_collection(name: str) -> Request[Collection]:
    """Make a collection, open to the organisation."""
    return Request("POST", ("v1", "collections"), Collection, body=NewCollection(name=name)).with_key()


def set_access(collection_id: str, access: Access) -> Request[Collection]:
    """Set who may use a collection."""
    return Request("PUT", ("v1", "collections", collection_id, "access"), Collection, body=access)


def list_(collection_id: str, limit: int | None = None, before: str | None = None) -> Request[DocumentPage]:
    """List the documents of a collection with the state of each, newest first."""
    parts = ("v1", "collections", collection_id, "documents")
    return Request("GET", parts, DocumentPage, query={"limit": limit, "before": before})


def upload(collection_id: str, files: Files) -> Request[ReceivedFiles]:
    """Send files, each a name and its content: bytes, or an open file, which is read while it is sent."""
    return Request("POST", ("v1", "collections", collection_id, "documents"), ReceivedFiles, files=files, timeout=UPLOAD)


def delete_collection(collection_id: str) -> Request[None]:
    """Delete a collection."""
    return Request("DELETE", ("v1", "collections", collection_id), type(None))


def delete(collection_id: str, document_id: str) -> Request[None]:
    """Delete one document."""
    return Request("DELETE", ("v1", "collections", collection_id, "documents", document_id), type(None))
