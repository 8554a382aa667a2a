"""The statistics of a collection."""

from pathlib import Path
from typing import Any

from retrieval.store.documents import StoredState
from retrieval.store.home import RetrievalHome


def count_statistics(shelves: RetrievalHome, collection: str) -> dict[str, Any]:
    """Count documents by language, licence and kind, texts and index in bytes on disk, and passages with and without vectors."""
    name = shelves.index.resolve(collection)
    generation = shelves.catalogue.find_generation(name) if name else None
    total, fetched_first, fetched_last = _count_totals(shelves, collection)
    return {
        "documents": total,
        "languages": _count_by(shelves, collection, "language"),
        "licences": _count_by(shelves, collection, "json_extract(source, '$.licence')"),
        "kinds": _count_by(shelves, collection, "json_extract(source, '$.kind')"),
        "fetched_first": fetched_first,
        "fetched_last": fetched_last,
        "text_bytes": _count_text_bytes(shelves, collection),
        "index_bytes": _count_index_bytes(shelves.index_folder, name),
        "passages": shelves.index.count(name) if name else 0,
        "with_vectors": shelves.index.count_dense(name) if name else 0,
        "encoder": generation.encoder if generation else "",
    }


def _count_totals(shelves: RetrievalHome, collection: str) -> tuple[int, str | None, str | None]:
    query = "SELECT count(*), min(fetched_at), max(fetched_at) FROM documents WHERE collection = ? AND state <> ?"
    total, first, last = shelves.database.connect().execute(query, (collection, StoredState.GONE)).fetchone()
    return int(total), first, last


def _count_by(shelves: RetrievalHome, collection: str, what: str) -> dict[str, int]:
    """Count the documents for each value of an expression, the most frequent first."""
    query = f"SELECT {what}, count(*) FROM documents WHERE collection = ? AND state <> ? GROUP BY 1 ORDER BY 2 DESC"
    rows = shelves.database.connect().execute(query, (collection, StoredState.GONE))
    return {str(value): int(count) for value, count in rows}


def _count_text_bytes(shelves: RetrievalHome, collection: str) -> int:
    """Count the bytes of the compressed snapshots."""
    query = (
        "SELECT coalesce(sum(length(text)), 0) FROM snapshots WHERE hash IN (SELECT snapshot FROM documents WHERE collection = ?)"
    )
    return int(shelves.database.connect().execute(query, (collection,)).fetchone()[0])


def _count_index_bytes(folder: Path | None, name: str | None) -> int | None:
    """Count the bytes of an index on this machine's disk; None for one on a server."""
    if folder is None or name is None:
        return None
    return sum(file.stat().st_blocks * 512 for file in (folder / name).rglob("*") if file.is_file())
