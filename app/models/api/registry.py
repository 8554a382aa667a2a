"""Routes of the registry of trained models: what serves here, and what the operator does about it."""

from typing import Annotated
from uuid import UUID

from litestar import Controller, Response, get, post
from litestar.params import FromPath, JSONBody, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.domain.served_models import ModelRole
from app.http.authentication import needs
from app.http.dependencies import CurrentPrincipal, OperationService, StandingsService
from app.http.openapi.responses import problem_responses
from app.models.schemas.bodies import (
    ActReason,
    ModelVersionDetail,
    ModelVersionPage,
    ModelVersionView,
    MoveList,
    OwnVotesView,
    Promotion,
    RoleList,
)
from app.models.schemas.views import view_detail, view_move, view_role, view_version, view_votes

PAGE_SIZE = 20
OfRole = Annotated[ModelRole | None, QueryParameter(description="Only this role's.")]
Limit = Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")]
Before = Annotated[UUID | None, QueryParameter(description="Only those older than this one.")]
VersionId = FromPath[UUID]
Role = FromPath[ModelRole]
MANAGE = needs(AccessScope.MODELS_MANAGE)


class RegistryController(Controller):
    """Routes of the registry. Everybody may read what serves them; the operator's organisation acts."""

    path = "/v1/registry"
    tags = ("models",)
    opt = needs(AccessScope.MODELS_READ)

    @get("/roles", responses=problem_responses())
    async def list_roles(self, standings: StandingsService, operation: OperationService, principal: CurrentPrincipal) -> RoleList:
        """Return what serves each role, and since when."""
        named = operation.is_operator(principal)
        items = [view_role(each, named) for each in await standings.list_roles()]
        return RoleList(items=items, operates=named, may_act=operation.may_act(principal))

    @get("/versions", responses=problem_responses(400, 404))
    async def list_versions(
        self, standings: StandingsService, role: OfRole = None, limit: Limit = PAGE_SIZE, before: Before = None
    ) -> ModelVersionPage:
        """List versions of trained models, newest first."""
        found = await standings.list_versions(limit + 1, role, before)
        items = [view_version(each) for each in found[:limit]]
        return ModelVersionPage(items=items, next=items[-1].id if len(found) > limit else None)

    @get("/versions/{version_id:uuid}", responses=problem_responses(404))
    async def show_version(
        self, version_id: VersionId, standings: StandingsService, operation: OperationService, principal: CurrentPrincipal
    ) -> ModelVersionDetail:
        """Return a version with its lineage, evaluations, canaries and history."""
        detail, named = await standings.describe(version_id), operation.is_operator(principal)
        return view_detail(detail, named, await standings.follow(detail.canaries) if named else ())

    @get("/versions/{version_id:uuid}/card", media_type="text/markdown", responses=problem_responses(404))
    async def show_card(self, version_id: VersionId, standings: StandingsService) -> Response[bytes]:
        """Return the model card of a version, as Markdown."""
        return Response((await standings.render_card(version_id)).encode(), media_type="text/markdown")

    @get("/moves", responses=problem_responses(400))
    async def list_moves(
        self,
        standings: StandingsService,
        operation: OperationService,
        principal: CurrentPrincipal,
        role: OfRole = None,
        limit: Limit = PAGE_SIZE,
    ) -> MoveList:
        """List the last moves of roles from model to model, newest first."""
        named = operation.is_operator(principal)
        return MoveList(items=[view_move(each, named) for each in await standings.list_moves(limit, role)])

    @get("/my-votes", responses=problem_responses())
    async def show_own_votes(self, standings: StandingsService) -> OwnVotesView:
        """Return which versions learned from your choices between reports, and from how many."""
        return view_votes(await standings.find_own_votes())

    @post("/versions/{version_id:uuid}/promote", status_code=200, opt=MANAGE, responses=problem_responses(400, 403, 404, 409))
    async def promote(
        self, version_id: VersionId, data: JSONBody[Promotion], operation: OperationService, principal: CurrentPrincipal
    ) -> ModelVersionView:
        """Let a version serve its role: new runs get it. The version before retires."""
        return view_version(await operation.promote(principal, version_id, data.served, data.reason))

    @post("/roles/{role:str}/hold", status_code=204, opt=MANAGE, responses=problem_responses(400, 403, 404))
    async def hold(self, role: Role, data: JSONBody[ActReason], operation: OperationService, principal: CurrentPrincipal) -> None:
        """Let no cycle move a role until it is released. A canary that runs there stops."""
        await operation.hold(principal, role, data.reason)

    @post("/roles/{role:str}/release", status_code=204, opt=MANAGE, responses=problem_responses(400, 403, 404, 409))
    async def release(
        self, role: Role, data: JSONBody[ActReason], operation: OperationService, principal: CurrentPrincipal
    ) -> None:
        """Let cycles move a role again."""
        await operation.release(principal, role, data.reason)

    @post("/roles/{role:str}/back", status_code=204, opt=MANAGE, responses=problem_responses(400, 403, 404, 409))
    async def go_back(
        self, role: Role, data: JSONBody[ActReason], operation: OperationService, principal: CurrentPrincipal
    ) -> None:
        """Give a role back to the model that had it before."""
        await operation.go_back(principal, role, data.reason)
