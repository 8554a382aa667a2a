"""Routes of collections of an organisation's own documents."""

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, delete, get, post, put
from litestar.openapi.spec import OpenAPIMediaType, Operation, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIFormat, OpenAPIType
from litestar.params import FromPath, JSONBody, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.collections.api.uploads import files_of
from app.collections.nouns import MAX_UPLOAD_BYTES, Access, Collection
from app.collections.schemas import CollectionPage, DocumentPage, NewCollection, ReceivedFiles, RefusedFile
from app.http.authentication import needs
from app.http.dependencies import ApiRequest, CollectionsService, CurrentPrincipal
from app.http.openapi.responses import problem_responses

PAGE_SIZE = 20
Limit = Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")]
Before = Annotated[UUID | None, QueryParameter(description="Only those older than this one.")]
CollectionId = FromPath[UUID]


@dataclass
class UploadOperation(Operation):
    """The description of the multipart body, for which no handler has a parameter."""

    def __post_init__(self) -> None:
        file = Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.BINARY)
        files = Schema(type=OpenAPIType.ARRAY, items=file, description="Files, each a part with a filename.")
        form = Schema(type=OpenAPIType.OBJECT, properties={"file": files})
        self.request_body = RequestBody(content={"multipart/form-data": OpenAPIMediaType(schema=form)}, required=True)


class CollectionsController(Controller):
    """Routes of own documents. A collection that the caller may not use is answered as not found."""

    path = "/v1/collections"
    tags = ("collections",)
    opt = needs(AccessScope.COLLECTIONS_READ)

    @get(responses=problem_responses(400))
    async def list_collections(
        self, collections: CollectionsService, limit: Limit = PAGE_SIZE, before: Before = None
    ) -> CollectionPage:
        """List the collections that you may use, newest first."""
        found = await collections.list_page(limit + 1, before)
        items = list(found[:limit])
        return CollectionPage(items=items, next=items[-1].id if len(found) > limit else None)

    @post(opt=needs(AccessScope.COLLECTIONS_WRITE), responses=problem_responses(400, 409))
    async def create(self, data: JSONBody[NewCollection], collections: CollectionsService) -> Response[Collection]:
        """Make a collection. Runs name it in `collections`."""
        made = await collections.create(data.name, data.access)
        return Response(made, headers={"Location": f"/v1/collections/{made.id}"})

    @get("/{collection_id:uuid}", responses=problem_responses(404))
    async def show(self, collection_id: CollectionId, collections: CollectionsService) -> Collection:
        """Return one collection."""
        return await collections.get(collection_id)

    @delete(
        "/{collection_id:uuid}", status_code=202, opt=needs(AccessScope.COLLECTIONS_WRITE), responses=problem_responses(403, 404)
    )
    async def remove(
        self, collection_id: CollectionId, collections: CollectionsService, principal: CurrentPrincipal
    ) -> Response[None]:
        """Delete a collection with its files, texts and vectors. Reports keep the words they quote (docs/collections.md)."""
        await collections.delete(principal, collection_id)
        return Response(None, status_code=202)

    @put("/{collection_id:uuid}/access", opt=needs(AccessScope.COLLECTIONS_WRITE), responses=problem_responses(400, 403, 404))
    async def set_access(
        self,
        collection_id: CollectionId,
        data: JSONBody[Access],
        collections: CollectionsService,
        principal: CurrentPrincipal,
    ) -> Collection:
        """Set who may use the collection: the whole organisation, or people and roles."""
        return await collections.set_access(principal, collection_id, data)

    @get("/{collection_id:uuid}/documents", responses=problem_responses(400, 404))
    async def list_documents(
        self, collection_id: CollectionId, collections: CollectionsService, limit: Limit = PAGE_SIZE, before: Before = None
    ) -> DocumentPage:
        """List its documents, newest first, each with its state: `received`, `parsed`, `indexed`, `failed`, `deleting`."""
        found = await collections.list_documents(collection_id, limit + 1, before)
        items = list(found[:limit])
        return DocumentPage(items=items, next=items[-1].id if len(found) > limit else None)

    @post(
        "/{collection_id:uuid}/documents",
        opt=needs(AccessScope.COLLECTIONS_WRITE),
        request_max_body_size=MAX_UPLOAD_BYTES,
        operation_class=UploadOperation,
        responses=problem_responses(400, 404, 413),
    )
    async def upload(
        self,
        collection_id: CollectionId,
        request: ApiRequest,
        collections: CollectionsService,
        principal: CurrentPrincipal,
    ) -> ReceivedFiles:
        """Send documents. A document replaces the older one of the same name. It is searched once it is `indexed`."""
        received = await collections.receive(principal, collection_id, files_of(request))
        refused = [RefusedFile(name=name, reason=reason) for name, reason in received.refused]
        return ReceivedFiles(items=received.items, refused=refused)

    @delete(
        "/{collection_id:uuid}/documents/{document_id:uuid}",
        status_code=202,
        opt=needs(AccessScope.COLLECTIONS_WRITE),
        responses=problem_responses(404),
    )
    async def remove_document(
        self, collection_id: CollectionId, document_id: FromPath[UUID], collections: CollectionsService
    ) -> Response[None]:
        """Delete a document with its file, text and vectors. Reports keep the words they quote (docs/collections.md)."""
        await collections.delete_document(collection_id, document_id)
        return Response(None, status_code=202)
