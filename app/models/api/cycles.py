"""Routes of cycles of retraining, for the organisation that operates this deployment."""

from typing import Annotated
from uuid import UUID

from litestar import Controller, get, post
from litestar.params import FromPath, JSONBody, PathParameter, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.domain.retraining import PLAN_NAME, CycleWish
from app.http.authentication import needs
from app.http.dependencies import CurrentPrincipal, CyclesService, OperationService, PlansService
from app.http.openapi.responses import problem_responses
from app.models.schemas.bodies import ActReason
from app.models.schemas.cycle_bodies import (
    CycleDetail,
    CycleEventList,
    CyclePage,
    CycleStop,
    CycleView,
    ScheduledPlanList,
    StepApproval,
)
from app.models.schemas.cycle_views import view_cycle, view_event, view_plan, view_watched

PAGE_SIZE, LOG_SIZE = 20, 500
Limit = Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")]
Before = Annotated[UUID | None, QueryParameter(description="Only those older than this one.")]
After = Annotated[int, QueryParameter(ge=0, description="Only what happened after this number.")]
LogLimit = Annotated[int, QueryParameter(ge=1, le=LOG_SIZE, description="How many at most.")]
PlanName = Annotated[str, PathParameter(pattern=PLAN_NAME, description="The plan's name.")]
CycleId = FromPath[UUID]
MANAGE = needs(AccessScope.MODELS_MANAGE)
ACT = problem_responses(400, 403, 404, 409, 503)


class CyclesController(Controller):
    """Routes of cycles. The operator's organisation reads them, and its admins steer them; others get 403."""

    path = "/v1/registry"
    tags = ("models",)
    opt = needs(AccessScope.MODELS_READ)

    @get("/plans", responses=problem_responses(403, 503))
    async def list_plans(
        self, plans: PlansService, operation: OperationService, principal: CurrentPrincipal
    ) -> ScheduledPlanList:
        """List the scheduled plans: when the next cycle of each starts, and what it lacks by an estimate."""
        operation.require_operator(principal)
        return ScheduledPlanList(items=[view_plan(each) for each in await plans.list_all()])

    @post("/plans/{plan:str}/start", opt=MANAGE, responses=ACT)
    async def start_plan(
        self,
        plan: PlanName,
        data: JSONBody[ActReason],
        cycles: CyclesService,
        operation: OperationService,
        principal: CurrentPrincipal,
    ) -> CycleView:
        """Start a cycle of a scheduled plan now, unless one is under way."""
        begun = await cycles.start_scheduled(plan, await operation.require_actor(principal), data.reason)
        return view_cycle(await cycles.get_standing(begun.id))

    @get("/cycles", responses=problem_responses(400, 403, 404))
    async def list_cycles(
        self,
        cycles: CyclesService,
        operation: OperationService,
        principal: CurrentPrincipal,
        limit: Limit = PAGE_SIZE,
        before: Before = None,
    ) -> CyclePage:
        """List cycles, newest first: where each stands, and since when."""
        operation.require_operator(principal)
        found = await cycles.list_page(limit + 1, before)
        items = [view_cycle(each) for each in found[:limit]]
        return CyclePage(items=items, next=items[-1].id if len(found) > limit else None)

    @get("/cycles/{cycle_id:uuid}", responses=problem_responses(403, 404))
    async def show_cycle(
        self, cycle_id: CycleId, cycles: CyclesService, operation: OperationService, principal: CurrentPrincipal
    ) -> CycleDetail:
        """Return a cycle with the outcomes of its steps, and what they wrote for people."""
        operation.require_operator(principal)
        return view_watched(await cycles.describe(cycle_id))

    @get("/cycles/{cycle_id:uuid}/events", responses=problem_responses(400, 403, 404))
    async def list_events(
        self,
        cycle_id: CycleId,
        cycles: CyclesService,
        operation: OperationService,
        principal: CurrentPrincipal,
        after: After = 0,
        limit: LogLimit = LOG_SIZE,
    ) -> CycleEventList:
        """List what happened in a cycle, in its order."""
        operation.require_operator(principal)
        items = [view_event(each) for each in await cycles.list_events(cycle_id, after, limit + 1)]
        return CycleEventList(items=items[:limit], next=items[limit - 1].seq if len(items) > limit else None)

    @post("/cycles/{cycle_id:uuid}/approve", status_code=200, opt=MANAGE, responses=ACT)
    async def approve(
        self,
        cycle_id: CycleId,
        data: JSONBody[StepApproval],
        cycles: CyclesService,
        operation: OperationService,
        principal: CurrentPrincipal,
    ) -> CycleView:
        """Agree to a step that waits for a person."""
        await cycles.approve(cycle_id, data.step, await operation.require_actor(principal), data.reason)
        return view_cycle(await cycles.get_standing(cycle_id))

    @post("/cycles/{cycle_id:uuid}/pause", status_code=200, opt=MANAGE, responses=ACT)
    async def pause(
        self,
        cycle_id: CycleId,
        data: JSONBody[ActReason],
        cycles: CyclesService,
        operation: OperationService,
        principal: CurrentPrincipal,
    ) -> CycleView:
        """End the step in hand, which saves what it has, until the cycle goes on."""
        await cycles.wish(cycle_id, CycleWish.PAUSE, await operation.require_actor(principal), data.reason)
        return view_cycle(await cycles.get_standing(cycle_id))

    @post("/cycles/{cycle_id:uuid}/go", status_code=200, opt=MANAGE, responses=ACT)
    async def go_on(
        self,
        cycle_id: CycleId,
        data: JSONBody[ActReason],
        cycles: CyclesService,
        operation: OperationService,
        principal: CurrentPrincipal,
    ) -> CycleView:
        """Let a paused cycle go on."""
        await cycles.wish(cycle_id, CycleWish.GO, await operation.require_actor(principal), data.reason)
        return view_cycle(await cycles.get_standing(cycle_id))

    @post("/cycles/{cycle_id:uuid}/stop", status_code=200, opt=MANAGE, responses=ACT)
    async def stop(
        self,
        cycle_id: CycleId,
        data: JSONBody[CycleStop],
        cycles: CyclesService,
        operation: OperationService,
        principal: CurrentPrincipal,
    ) -> CycleView:
        """End a cycle for good, at once or after the step in hand."""
        wish = CycleWish.STOP_AFTER if data.after_step else CycleWish.STOP
        await cycles.wish(cycle_id, wish, await operation.require_actor(principal), data.reason)
        return view_cycle(await cycles.get_standing(cycle_id))
