"""Routes of annotation by experts: pairs to judge one after the other, and the agreement between annotators."""

from typing import Annotated
from uuid import UUID

from litestar import Controller, get, post
from litestar.params import FromPath, JSONBody, QueryParameter

from app.accounts.nouns.access import AccessScope
from app.comparisons.api import choice_of
from app.comparisons.schemas import NewChoice, view_of
from app.domain.errors import Unavailable
from app.http.authentication import needs
from app.http.dependencies import CurrentPrincipal, PreferencesService
from app.http.openapi.responses import problem_responses
from app.preferences.schemas.annotations import (
    AgreementReport,
    AgreementView,
    AnswerReceipt,
    AssignmentView,
    Attention,
    NewTasks,
    NextAssignment,
    PairAgreement,
    SkipRequest,
    TaskPage,
    TaskView,
)
from app.preferences.service.agreement import Agreement
from app.preferences.service.annotation import AgreementSummary as Found
from app.preferences.service.annotation import PresentedPair
from app.preferences.storage.annotations import AnnotationTask

PAGE_SIZE = 20
AssignmentId = FromPath[UUID]


class AnnotationsController(Controller):
    """Routes of an annotator's queue, and of its management."""

    path = "/v1/annotations"
    tags = ("annotation",)
    opt = needs(AccessScope.ANNOTATIONS_WRITE)

    @post(opt=needs(AccessScope.ANNOTATIONS_MANAGE), status_code=204, responses=problem_responses(400, 403, 404, 409))
    async def add(self, data: JSONBody[NewTasks], preferences: PreferencesService, principal: CurrentPrincipal) -> None:
        """Let annotators judge comparisons; repeat to change the number of annotators."""
        await preferences.annotation.add(data.comparison_ids, data.overlap, data.gold, principal.user_id)

    @get(opt=needs(AccessScope.ANNOTATIONS_MANAGE), responses=problem_responses(400, 403))
    async def tasks(
        self,
        preferences: PreferencesService,
        limit: Annotated[int, QueryParameter(ge=1, le=100, description="How many at most.")] = PAGE_SIZE,
        before: Annotated[UUID | None, QueryParameter(description="Only pairs added before this comparison.")] = None,
    ) -> TaskPage:
        """List the pairs to judge, newest first."""
        found = await preferences.annotation.list_tasks(before, limit + 1)
        items = [_task_view_of(task) for task in found[:limit]]
        return TaskPage(items=items, next=items[-1].comparison_id if len(found) > limit else None)

    @get("/next", responses=problem_responses(403))
    async def next(self, preferences: PreferencesService, principal: CurrentPrincipal) -> NextAssignment:
        """Return the pair that you are judging, or else the most informative one. It is yours for 24 hours."""
        given = await preferences.annotation.get_next(principal.user_id)
        return NextAssignment(assignment=_assignment_view_of(given) if given else None)

    @get("/agreement", opt=needs(AccessScope.ANNOTATIONS_MANAGE), responses=problem_responses(403))
    async def agreement(self, preferences: PreferencesService) -> AgreementReport:
        """Return how far annotators agree beyond chance."""
        return _agreement_report_of(await preferences.annotation.measure_agreement())

    @post("/{assignment_id:uuid}", status_code=200, responses=problem_responses(400, 403, 404, 409))
    async def answer(
        self,
        assignment_id: AssignmentId,
        data: JSONBody[NewChoice],
        preferences: PreferencesService,
        principal: CurrentPrincipal,
    ) -> AnswerReceipt:
        """Judge your pair. The answer is final."""
        stored = await preferences.annotation.answer(assignment_id, choice_of(data), principal.user_id)
        return AnswerReceipt(id=assignment_id, seconds=round(stored.seconds, 3))

    @post("/{assignment_id:uuid}/skip", status_code=204, responses=problem_responses(400, 403, 404, 409))
    async def skip(
        self,
        assignment_id: AssignmentId,
        data: JSONBody[SkipRequest],
        preferences: PreferencesService,
        principal: CurrentPrincipal,
    ) -> None:
        """Skip your pair, with a reason. It goes to another annotator."""
        await preferences.annotation.skip(assignment_id, data.reason, principal.user_id)


def _task_view_of(task: AnnotationTask) -> TaskView:
    return TaskView(**task._asdict(), being_judged=task.taken - task.answered)


def _assignment_view_of(given: PresentedPair) -> AssignmentView:
    seen = view_of(given.shown)
    if seen.left is None or seen.right is None:
        raise Unavailable("the pair is not ready; try again in a moment")
    return AssignmentView(
        id=given.assignment.id,
        question=seen.question,
        left=seen.left,
        right=seen.right,
        expires_at=given.assignment.expires_at,
    )


def _agreement_view_of(agreement: Agreement) -> AgreementView:
    return AgreementView(pairs=agreement.items, observed=agreement.observed, kappa=agreement.kappa)


def _agreement_report_of(found: Found) -> AgreementReport:
    pairs = [
        PairAgreement(**_agreement_view_of(agreement).model_dump(), annotators=(UUID(one), UUID(other)))
        for (one, other), agreement in found.pairs.items()
    ]
    return AgreementReport(
        overall=_agreement_view_of(found.overall),
        dimensions={dimension: _agreement_view_of(agreement) for dimension, agreement in found.dimensions.items()},
        annotators=pairs,
        gold=[Attention(annotator=UUID(who), right=right, given=n) for who, (right, n) in sorted(found.gold.items())],
    )
