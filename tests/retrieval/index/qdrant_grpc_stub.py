"""The gRPC surface of a Qdrant server, as far as the product uses it: each call is passed on to the stub of the REST surface."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any

import grpc as wire
from qdrant_client import QdrantClient, grpc, models
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc
from qdrant_client.grpc import collections_service_pb2_grpc, points_service_pb2_grpc
from qdrant_client.http.exceptions import UnexpectedResponse

Call = Any

# Only a server that has stopped answers later than this: the client's own 5 s are little on a busy machine.
PATIENCE_SECONDS = 120


class QdrantGrpcStub:
    """A server that listens on a free local port from `start` to `stop`, in front of the REST stub at `url`."""

    def __init__(self, url: str) -> None:
        behind = QdrantClient(url=url, check_compatibility=False, timeout=PATIENCE_SECONDS)
        self._server = wire.server(ThreadPoolExecutor(4))
        points_service_pb2_grpc.add_PointsServicer_to_server(_Points(behind), self._server)
        collections_service_pb2_grpc.add_CollectionsServicer_to_server(_Collections(behind), self._server)
        self.port = self._server.add_insecure_port("127.0.0.1:0")

    def start(self) -> None:
        """Answer in threads of its own."""
        self._server.start()

    def stop(self) -> None:
        """Close the port."""
        self._server.stop(None).wait()


def _pass_on(call: Callable[[Any, Call], Any]) -> Callable[[Any, Call, wire.ServicerContext], Any]:
    @wraps(call)
    def answer(self: Any, request: Call, context: wire.ServicerContext) -> Any:
        try:
            return call(self, request)
        except UnexpectedResponse as error:
            code = wire.StatusCode.NOT_FOUND if error.status_code == 404 else wire.StatusCode.INTERNAL
            context.abort(code, str(error))

    return answer


def _make_done() -> Any:
    return grpc.PointsOperationResponse(result=grpc.UpdateResult(operation_id=0, status=grpc.UpdateStatus.Completed))


def _read_filter(request: Call) -> models.Filter | None:
    return GrpcToRest.convert_filter(request.filter) if request.HasField("filter") else None


class _Points(points_service_pb2_grpc.PointsServicer):
    def __init__(self, behind: QdrantClient) -> None:
        self.behind = behind

    @_pass_on
    def Upsert(self, request: Call) -> Any:
        self.behind.upsert(request.collection_name, [GrpcToRest.convert_point_struct(point) for point in request.points])
        return _make_done()

    @_pass_on
    def UpdateVectors(self, request: Call) -> Any:
        self.behind.update_vectors(request.collection_name, [GrpcToRest.convert_point_vectors(p) for p in request.points])
        return _make_done()

    @_pass_on
    def Delete(self, request: Call) -> Any:
        self.behind.delete(request.collection_name, GrpcToRest.convert_filter(request.points.filter))
        return _make_done()

    @_pass_on
    def CreateFieldIndex(self, request: Call) -> Any:
        kinds = {grpc.FieldType.FieldTypeKeyword: "keyword", grpc.FieldType.FieldTypeInteger: "integer"}
        self.behind.create_payload_index(request.collection_name, request.field_name, kinds[request.field_type])
        return _make_done()

    @_pass_on
    def CreateVectorName(self, request: Call) -> Any:
        size = request.dense_config.size
        room = models.DenseVectorConfig(size=size, distance=models.Distance.COSINE)
        assert request.dense_config.distance == grpc.Distance.Cosine
        self.behind.create_vector_name(request.collection_name, request.vector_name, models.DenseVectorNameConfig(dense=room))
        return _make_done()

    @_pass_on
    def DeleteVectorName(self, request: Call) -> Any:
        self.behind.delete_vector_name(request.collection_name, request.vector_name)
        return _make_done()

    @_pass_on
    def Get(self, request: Call) -> Any:
        found = self.behind.retrieve(request.collection_name, [point.num for point in request.ids], with_payload=True)
        return grpc.GetResponse(result=[RestToGrpc.convert_record(record) for record in found])

    @_pass_on
    def Scroll(self, request: Call) -> Any:
        offset = request.offset.num if request.HasField("offset") else None
        found, _ = self.behind.scroll(request.collection_name, _read_filter(request), limit=request.limit, offset=offset)
        return grpc.ScrollResponse(result=[RestToGrpc.convert_record(record) for record in found])

    @_pass_on
    def Count(self, request: Call) -> Any:
        counted = self.behind.count(request.collection_name, _read_filter(request), exact=request.exact)
        return grpc.CountResponse(result=grpc.CountResult(count=counted.count))

    @_pass_on
    def QueryBatch(self, request: Call) -> Any:
        asked = [GrpcToRest.convert_query_points(query) for query in request.query_points]
        answers = self.behind.query_batch_points(request.collection_name, asked)
        results = [[RestToGrpc.convert_scored_point(point) for point in answer.points] for answer in answers]
        return grpc.QueryBatchResponse(result=[grpc.BatchResult(result=points) for points in results])


class _Collections(collections_service_pb2_grpc.CollectionsServicer):
    def __init__(self, behind: QdrantClient) -> None:
        self.behind = behind

    @_pass_on
    def Create(self, request: Call) -> Any:
        sparse = {name: models.SparseVectorParams(modifier=models.Modifier.IDF) for name in request.sparse_vectors_config.map}
        self.behind.create_collection(request.collection_name, vectors_config={}, sparse_vectors_config=sparse)
        return grpc.CollectionOperationResponse(result=True)

    @_pass_on
    def Delete(self, request: Call) -> Any:
        return grpc.CollectionOperationResponse(result=self.behind.delete_collection(request.collection_name))

    @_pass_on
    def Get(self, request: Call) -> Any:
        info = self.behind.get_collection(request.collection_name)
        return grpc.GetCollectionInfoResponse(result=RestToGrpc.convert_collection_info(info))

    @_pass_on
    def List(self, _: Call) -> Any:
        names = [collection.name for collection in self.behind.get_collections().collections]
        return grpc.ListCollectionsResponse(collections=[grpc.CollectionDescription(name=name) for name in names])

    @_pass_on
    def UpdateAliases(self, request: Call) -> Any:
        self.behind.update_collection_aliases([GrpcToRest.convert_alias_operations(action) for action in request.actions])
        return grpc.CollectionOperationResponse(result=True)

    @_pass_on
    def ListAliases(self, _: Call) -> Any:
        aliases = [RestToGrpc.convert_alias_description(alias) for alias in self.behind.get_aliases().aliases]
        return grpc.ListAliasesResponse(aliases=aliases)
