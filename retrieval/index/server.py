"""A Qdrant server by URL, through qdrant-client: each index is a collection, each alias an alias.

The server can be searched while it is written to, so an index is extended in place and `derive` copies nothing. Names have a
prefix, `rubrica.` by default, so that other programs can share the server. Two homes on one server need different prefixes
(`RUBRICA_QDRANT_PREFIX`): each deletes what it does not know under its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from grpc import Call, RpcError, StatusCode
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from app.domain.errors import NotFound, ToolError, ToolUnavailable
from retrieval.index.ports import DAYS, KEYWORDS, Hits, HybridHits, HybridQuery, IndexedPassage, PassagePlace
from retrieval.ports import SearchFilter

SPARSE = "sparse"
DENSE = "dense"
PREFIX = "rubrica."
FORGETS_FROM = 1e-6
"""The share of deleted points from which a segment that must forget them is rewritten."""
TIMEOUT_SECONDS = 30
GRPC_PORT = 6334
_AWAY = (StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED, StatusCode.RESOURCE_EXHAUSTED)
_HAS_DENSE = models.HasVectorCondition(has_vector=DENSE)
_PLACE = ["document", "start", "end"]


class ServerIndex:
    """Indexes on the server at `url`; see `Index` for the methods. Threads may share it.

    With `grpc_port` it uses gRPC, which costs less for large answers; `url` still decides the host and TLS.
    """

    def __init__(self, url: str, grpc_port: int | None = None, prefix: str = PREFIX) -> None:
        self._url = url
        self._prefix = prefix
        self._client = QdrantClient(
            url=url,
            grpc_port=grpc_port or GRPC_PORT,
            prefer_grpc=grpc_port is not None,
            timeout=TIMEOUT_SECONDS,
            check_compatibility=False,
        )

    def create(self, name: str, forgets: bool = False) -> None:
        """Make an empty collection with its payload indexes. A server rewrites no segment of fewer than a hundred points."""
        self.drop(name)
        vacuum = models.OptimizersConfigDiff(deleted_threshold=FORGETS_FROM, vacuum_min_vector_number=100)
        with self._map_errors(name) as collection:
            self._client.create_collection(
                collection,
                vectors_config={},
                sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                optimizers_config=vacuum if forgets else None,
            )
            for field in KEYWORDS:
                self._client.create_payload_index(collection, field, models.PayloadSchemaType.KEYWORD, wait=True)
            self._client.create_payload_index(collection, DAYS, models.PayloadSchemaType.INTEGER, wait=True)

    def derive(self, base: str, name: str) -> str:
        """Return `base` itself, which can be changed while it is searched."""
        if base not in self.list_names():
            raise NotFound(f"there is no index {base!r} at {self._url}")
        return base

    def upsert(self, name: str, passages: Sequence[IndexedPassage]) -> None:
        """Add or replace points."""
        with self._map_errors(name) as collection:
            self._client.upsert(collection, [_point_of(passage) for passage in passages], wait=True)

    def set_dense(self, name: str, vectors: Iterable[tuple[int, Sequence[float]]]) -> None:
        """Give existing points their dense vectors."""
        points = [models.PointVectors(id=number, vector={DENSE: [float(x) for x in vector]}) for number, vector in vectors]
        with self._map_errors(name) as collection:
            self._client.update_vectors(collection, points, wait=True)

    def begin_dense(self, name: str, size: int) -> None:
        """Prepare for dense vectors of `size` dimensions, and drop existing ones."""
        room = models.DenseVectorNameConfig(dense=models.DenseVectorConfig(size=size, distance=models.Distance.COSINE))
        with self._map_errors(name) as collection:
            if DENSE in (self._client.get_collection(collection).config.params.vectors or {}):
                self._client.delete_vector_name(collection, DENSE)
            self._client.create_vector_name(collection, DENSE, room)

    def list_without_dense(self, name: str, limit: int, after: int = -1) -> Sequence[PassagePlace]:
        """Return up to `limit` points above `after` without a dense vector."""
        missing = models.Filter(must_not=[_HAS_DENSE])
        with self._map_errors(name) as collection:
            records, _ = self._client.scroll(
                collection, scroll_filter=missing, limit=limit, offset=after + 1, with_payload=_PLACE
            )
        return [_place_of(record) for record in records]

    def delete_documents(self, name: str, documents: Sequence[str]) -> None:
        """Remove all points of these documents."""
        if documents:
            condition = models.FieldCondition(key="document", match=models.MatchAny(any=list(documents)))
            with self._map_errors(name) as collection:
                self._client.delete(collection, models.Filter(must=[condition]), wait=True)

    def query(self, name: str, query: HybridQuery) -> HybridHits:
        """Search by both vectors, in one round trip."""
        halves: dict[str, Any] = {}
        if query.sparse.indices:
            halves[SPARSE] = models.SparseVector(indices=query.sparse.indices, values=query.sparse.values)
        if query.dense is not None:
            halves[DENSE] = list(query.dense)
        if not halves:
            return HybridHits({}, {})
        requests = [_request_of(vector, using, query) for using, vector in halves.items()]
        with self._map_errors(name) as collection:
            answers = self._client.query_batch_points(collection, requests)
        found = {
            using: {int(point.id): point.score for point in answer.points} for using, answer in zip(halves, answers, strict=True)
        }
        return HybridHits(found.get(SPARSE, {}), found.get(DENSE, {}))

    def compare(self, name: str, vector: Sequence[float], ids: Sequence[int]) -> Hits:
        """Return the exact scores of these points."""
        if not ids:
            return {}
        only = models.Filter(must=[models.HasIdCondition(has_id=list(ids))])
        request = models.QueryRequest(query=list(vector), using=DENSE, filter=only, limit=len(ids), with_payload=False)
        with self._map_errors(name) as collection:
            answers = self._client.query_batch_points(collection, [request])
        return {int(point.id): point.score for point in answers[0].points}

    def find_places(self, name: str, ids: Sequence[int]) -> dict[int, PassagePlace]:
        """Return the places of these points' texts; none are kept in memory."""
        return self.read_places(name, ids)

    def read_places(self, name: str, ids: Sequence[int]) -> dict[int, PassagePlace]:
        """Read the places from the server."""
        with self._map_errors(name) as collection:
            records = self._client.retrieve(collection, list(ids), with_payload=_PLACE)
        return {place.id: place for place in map(_place_of, records)}

    def count(self, name: str) -> int:
        """Count the points."""
        with self._map_errors(name) as collection:
            return self._client.count(collection, exact=True).count

    def count_dense(self, name: str) -> int:
        """Count the points that have a dense vector."""
        with self._map_errors(name) as collection:
            return self._client.count(collection, count_filter=models.Filter(must=[_HAS_DENSE]), exact=True).count

    def flush(self, name: str) -> None:
        """Do nothing: every write waits until the server has it in its log."""

    def optimize(self, name: str) -> None:
        """Do nothing: the server optimizes by itself."""

    def close(self, name: str) -> None:
        """Do nothing: the server keeps its collections open."""

    def drop(self, name: str) -> None:
        """Delete a collection, if it exists."""
        if name in self.list_names():
            with self._map_errors(name) as collection:
                self._client.delete_collection(collection)

    def list_names(self) -> Sequence[str]:
        """Return all indexes with our prefix, in alphabetical order."""
        with self._map_errors(""):
            found = [collection.name for collection in self._client.get_collections().collections]
        return sorted(name.removeprefix(self._prefix) for name in found if name.startswith(self._prefix))

    def switch(self, alias: str, name: str) -> None:
        """Point the alias at a collection, in one step."""
        if name not in self.list_names():
            raise NotFound(f"there is no index {name!r} at {self._url}")
        fresh = models.CreateAlias(collection_name=self._prefix + name, alias_name=self._prefix + alias)
        steps: list[Any] = [models.CreateAliasOperation(create_alias=fresh)]
        if self.resolve(alias) is not None:
            steps.insert(0, models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self._prefix + alias)))
        with self._map_errors(alias):
            self._client.update_collection_aliases(steps)

    def resolve(self, alias: str) -> str | None:
        """Return the collection that `alias` points at; None where there is none."""
        with self._map_errors("") as prefix:
            for found in self._client.get_aliases().aliases:
                if found.alias_name == prefix + alias:
                    return found.collection_name.removeprefix(prefix)
        return None

    def unalias(self, alias: str) -> None:
        """Remove an alias, if it exists."""
        if self.resolve(alias) is not None:
            with self._map_errors(alias) as wanted:
                gone = models.DeleteAlias(alias_name=wanted)
                self._client.update_collection_aliases([models.DeleteAliasOperation(delete_alias=gone)])

    def _map_errors(self, name: str) -> AbstractContextManager[str]:
        return _map_client_errors(self._url, name, self._prefix + name)


@contextmanager
def _map_client_errors(url: str, name: str, collection: str) -> Iterator[str]:
    """Yield the collection's name on the server, and turn the client's errors into ours."""
    try:
        yield collection
    except UnexpectedResponse as error:
        if error.status_code == 404 and not name:
            raise ToolError(f"what answers at {url} is no Qdrant server") from error
        if error.status_code == 404:
            raise NotFound(f"there is no index {name!r} at {url}") from error
        kind = ToolUnavailable if (error.status_code or 0) >= 500 else ToolError
        raise kind(f"the Qdrant server at {url} refused ({error.status_code}): {error.content[:200]!r}") from error
    except RpcError as error:
        raise _map_grpc_error(error, url, name) from error
    except (ApiException, ResourceExhaustedResponse) as error:
        raise ToolUnavailable(f"the Qdrant server at {url} does not answer: {error}") from error


def _map_grpc_error(error: RpcError, url: str, name: str) -> ToolError | NotFound:
    code, reason = (error.code(), error.details()) if isinstance(error, Call) else (None, str(error))
    if code is StatusCode.NOT_FOUND and name:
        return NotFound(f"there is no index {name!r} at {url}")
    if code in _AWAY:
        return ToolUnavailable(f"the Qdrant server at {url} does not answer: {reason}")
    return ToolError(f"the Qdrant server at {url} refused ({code}): {str(reason)[:200]}")


def _point_of(passage: IndexedPassage) -> models.PointStruct:
    sparse = models.SparseVector(indices=passage.sparse.indices, values=passage.sparse.values)
    return models.PointStruct(id=passage.id, vector={SPARSE: sparse}, payload=passage.to_payload())


def _request_of(vector: Any, using: str, query: HybridQuery) -> models.QueryRequest:
    return models.QueryRequest(query=vector, using=using, filter=_filter_of(query.where), limit=query.limit, with_payload=False)


def _filter_of(where: SearchFilter) -> models.Filter | None:
    must: list[models.Condition] = []
    if where.language is not None:
        must.append(models.FieldCondition(key="language", match=models.MatchValue(value=where.language)))
    if where.tenant is not None:
        must.append(models.FieldCondition(key="tenant", match=models.MatchAny(any=["", where.tenant])))
    if any(where.days()):
        first, last = where.days()
        must.append(models.FieldCondition(key=DAYS, range=models.Range(gte=first, lte=last)))
    return models.Filter(must=must) if must else None


def _place_of(record: models.Record) -> PassagePlace:
    payload = record.payload or {}
    return PassagePlace(int(record.id), str(payload["document"]), int(payload["start"]), int(payload["end"]))
