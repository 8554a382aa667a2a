"""The Qdrant engine in process: a folder for each index, a symbolic link for each alias.

Only `EdgeShard.query` releases the interpreter's lock. So a separate process writes (and above all optimizes) an index, and the
process that answers only searches it. There is no write-ahead log: points that were not flushed are written again.
"""

import os
import shutil
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import qdrant_edge as engine

from app.domain.errors import NotFound
from retrieval.index.ports import DAYS, KEYWORDS, Hits, HybridHits, HybridQuery, IndexDamaged, IndexedPassage, PassagePlace
from retrieval.ports import SearchFilter

SPARSE = "sparse"
DENSE = "dense"
HNSW_FROM_KB = 8_000
"""Below this size (about 5,300 passages) a scan over all dense vectors costs less than the query's encoding. From here on a graph
is built: at 15,000 passages it takes 3 CPU seconds to build and halves what a search costs."""

MOST_DELETED = 0.05
"""The share of deleted points from which a segment is rewritten. It bounds the error of a word's rarity."""

BEING_WRITTEN = ".atomicwriter*"
"""How the engine names a file until it is whole. It also writes some when it opens an index, in whichever process."""

MOST_PLACES = 50_000
"""The places in memory for each index. A search asks for up to 400, mostly the same ones again, at 4 us each."""

MOST_IGNORED = 1_000
"""After how many updates that the engine ignored an index counts as damaged."""


class EdgeIndex:
    """Indexes under the folder `root`; see `Index` for the methods."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._open: dict[str, engine.EdgeShard] = {}
        self._places: dict[str, dict[int, PassagePlace]] = {}
        self._lock = threading.Lock()
        root.mkdir(parents=True, exist_ok=True)

    def create(self, name: str, forgets: bool = False) -> None:
        """Make an empty index with payload indexes, which stay out of the vector graph, whose build they would slow fourfold."""
        self.drop(name)
        self._path_of(name).mkdir()
        shard = engine.EdgeShard.create(str(self._path_of(name)), _config_of(forgets))
        for field in KEYWORDS:
            shard.update(engine.UpdateOperation.create_field_index(field, engine.KeywordIndexParams(enable_hnsw=False)))
        shard.update(engine.UpdateOperation.create_field_index(DAYS, engine.IntegerIndexParams(range=True, enable_hnsw=False)))
        shard.flush()
        with self._lock:
            self._open[name] = shard

    def derive(self, base: str, name: str) -> str:
        """Copy `base`, because the engine cannot write to an index while another process searches it."""
        self._require(base)
        self.drop(name)
        copy = self._path_of(f".{name}.copy")
        shutil.rmtree(copy, ignore_errors=not copy.exists())
        shutil.copytree(self._path_of(base), copy, ignore=shutil.ignore_patterns(BEING_WRITTEN))
        os.replace(copy, self._path_of(name))
        return name

    def upsert(self, name: str, passages: Sequence[IndexedPassage]) -> None:
        """Add or replace points."""
        self._open_shard(name).update(engine.UpdateOperation.upsert_points([_point_of(passage) for passage in passages]))
        self._places.pop(name, None)

    def set_dense(self, name: str, vectors: Iterable[tuple[int, Sequence[float]]]) -> None:
        """Give existing points their dense vectors."""
        points = [engine.PointVectors(id=number, vector={DENSE: list(vector)}) for number, vector in vectors]
        these = engine.HasIdCondition({_number_of(point.id) for point in points})
        without = engine.Filter(must=[these], must_not=[engine.HasVectorCondition(DENSE)])
        self._update(name, engine.UpdateOperation.update_vectors(points), without)

    def begin_dense(self, name: str, size: int) -> None:
        """Prepare for dense vectors of `size` dimensions, and drop existing ones."""
        shard = self._open_shard(name)
        shard.update(engine.UpdateOperation.delete_vector_name(DENSE))
        shard.update(engine.UpdateOperation.create_dense_vector(DENSE, size, engine.Distance.Cosine))

    def list_without_dense(self, name: str, limit: int, after: int = -1) -> Sequence[PassagePlace]:
        """Return up to `limit` points above `after` without a dense vector."""
        missing = engine.Filter(must_not=[engine.HasVectorCondition(DENSE)])
        request = engine.ScrollRequest(offset=after + 1, limit=limit, filter=missing, with_payload=True)
        records, _ = self._open_shard(name).scroll(request)
        return [_place_of(record) for record in records]

    def delete_documents(self, name: str, documents: Sequence[str]) -> None:
        """Remove all points of these documents."""
        if documents:
            condition = engine.FieldCondition(key="document", match=engine.MatchAny(any=list(documents)))
            only = engine.Filter(must=[condition])
            self._update(name, engine.UpdateOperation.delete_points_by_filter(only), only)
            self._places.pop(name, None)

    def query(self, name: str, query: HybridQuery) -> HybridHits:
        """Search by both vectors; runs outside the interpreter's lock."""
        shard = self._open_shard(name)
        sparse: Hits = {}
        dense: Hits = {}
        if query.sparse.indices:
            words = engine.SparseVector(query.sparse.indices, query.sparse.values)
            sparse = _search(shard, words, SPARSE, query.limit, _filter_of(query.where))
        if query.dense is not None:
            dense = _search(shard, list(query.dense), DENSE, query.limit, _filter_of(query.where))
        return HybridHits(sparse, dense)

    def compare(self, name: str, vector: Sequence[float], ids: Sequence[int]) -> Hits:
        """Return the exact scores of these points; so few are not looked for in the graph."""
        only = engine.Filter(must=[engine.HasIdCondition(set(ids))])
        return _search(self._open_shard(name), list(vector), DENSE, len(ids), only) if ids else {}

    def find_places(self, name: str, ids: Sequence[int]) -> dict[int, PassagePlace]:
        """Return the places of these points' texts. Places in an index that is only searched do not change, so they are kept."""
        known = self._places.setdefault(name, {})
        found = {number: place for number in ids if (place := known.get(number))}  # another thread may empty `known` meanwhile
        if missing := [number for number in ids if number not in found]:
            fresh = self.read_places(name, missing)
            if len(known) + len(fresh) > MOST_PLACES:
                known.clear()
            known |= fresh
            found |= fresh
        return found

    def read_places(self, name: str, ids: Sequence[int]) -> dict[int, PassagePlace]:
        """Read the places from the index itself."""
        records = self._open_shard(name).retrieve(list(ids), with_payload=True, with_vector=False) if ids else []
        return {place.id: place for place in map(_place_of, records)}

    def count(self, name: str) -> int:
        """Count the points."""
        return self._open_shard(name).count(engine.CountRequest(exact=True))

    def count_dense(self, name: str) -> int:
        """Count the points that have a dense vector."""
        present = engine.Filter(must=[engine.HasVectorCondition(DENSE)])
        return self._open_shard(name).count(engine.CountRequest(filter=present, exact=True))

    def flush(self, name: str) -> None:
        """Write everything to disk."""
        self._open_shard(name).flush()

    def optimize(self, name: str) -> None:
        """Merge segments and, for a large index, build the vector graph."""
        shard = self._open_shard(name)
        shard.optimize()
        shard.flush()

    def close(self, name: str) -> None:
        """Close an index; a query under way still finishes."""
        # Dropping the reference is enough: a query under way holds its own, and the engine closes with the last one.
        with self._lock:
            self._open.pop(name, None)
            self._places.pop(name, None)

    def drop(self, name: str) -> None:
        """Delete an index, if it exists."""
        self.close(name)
        shutil.rmtree(self._path_of(name), ignore_errors=not self._path_of(name).exists())

    def list_names(self) -> Sequence[str]:
        """Return all indexes, in alphabetical order."""
        return sorted(
            path.name for path in self._root.iterdir() if path.is_dir() and not path.is_symlink() and path.name[0] != "."
        )

    def switch(self, alias: str, name: str) -> None:
        """Point the link `alias` at `name`, in one step."""
        self._require(name)
        fresh = self._root / f".{alias}.new"
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(name)
        os.replace(fresh, self._root / alias)

    def resolve(self, alias: str) -> str | None:
        """Return the index that `alias` points at; None where there is none."""
        link = self._root / alias
        return os.readlink(link) if link.is_symlink() else None

    def unalias(self, alias: str) -> None:
        """Remove an alias, if it exists."""
        link = self._root / alias
        if link.is_symlink():
            link.unlink()

    def _update(self, name: str, operation: engine.UpdateOperation, remaining: engine.Filter) -> None:
        """Update an index until no point matches `remaining`.

        The engine numbers updates, and ignores one without a word whose number is below that of a point's last update. After a
        kill its numbers may begin again below those of points that were on disk already; each attempt raises them by one.
        """
        shard = self._open_shard(name)
        for _ in range(MOST_IGNORED):
            shard.update(operation)
            if not shard.count(engine.CountRequest(filter=remaining, exact=True)):
                return
        raise IndexDamaged(f"the index {name!r} takes no updates; build its collection again")

    def _path_of(self, name: str) -> Path:
        return self._root / name

    def _require(self, name: str) -> None:
        if not (self._path_of(name) / "edge_config.json").is_file():
            raise NotFound(f"there is no index {name!r} in {self._root.name}")

    def _open_shard(self, name: str) -> engine.EdgeShard:
        found = self._open.get(name)
        if found is None:
            with self._lock:
                found = self._open.get(name)
                if found is None:
                    self._require(name)
                    found = self._open[name] = _load(self._path_of(name))
        return found


def _load(path: Path) -> engine.EdgeShard:
    try:
        return engine.EdgeShard.load(str(path))
    except Exception as error:  # the engine raises nothing narrower
        raise IndexDamaged(f"the index {path.name!r} cannot be opened; build its collection again ({error})") from error


def _config_of(forgets: bool) -> engine.EdgeConfig:
    """Return an index's settings.

    Deleted points count into how rare a word is until their segment is rewritten; by default small ones never are.
    """
    return engine.EdgeConfig(
        sparse_vectors={SPARSE: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf)},
        optimizers=engine.EdgeOptimizersConfig(
            indexing_threshold=HNSW_FROM_KB,
            deleted_threshold=1e-9 if forgets else MOST_DELETED,
            vacuum_min_vector_number=1,
        ),
        max_search_threads=2,
        wal_enabled=False,
    )


def _point_of(passage: IndexedPassage) -> engine.Point:
    return engine.Point(
        id=passage.id,
        vector={SPARSE: engine.SparseVector(passage.sparse.indices, passage.sparse.values)},
        payload=passage.to_payload(),
    )


def _search(shard: engine.EdgeShard, vector: Any, using: str, limit: int, only: engine.Filter | None) -> Hits:
    nearest = engine.Query.Nearest(vector, using=using)
    found = shard.query(engine.QueryRequest(limit=limit, query=nearest, filter=only, with_payload=False))
    return {int(point.id): point.score for point in found}


def _filter_of(where: SearchFilter) -> engine.Filter | None:
    must: list[Any] = []
    if where.language is not None:
        must.append(engine.FieldCondition(key="language", match=engine.MatchValue(where.language)))
    if where.tenant is not None:
        must.append(engine.FieldCondition(key="tenant", match=engine.MatchAny(any=["", where.tenant])))
    if any(where.days()):
        first, last = where.days()
        must.append(engine.FieldCondition(key=DAYS, range=engine.RangeFloat(gte=first, lte=last)))
    return engine.Filter(must=must) if must else None


def _place_of(record: engine.Record) -> PassagePlace:
    payload = record.payload or {}
    return PassagePlace(_number_of(record.id), str(payload["document"]), int(payload["start"]), int(payload["end"]))


def _number_of(point_id: object) -> int:
    return point_id if isinstance(point_id, int) else int(str(point_id))
