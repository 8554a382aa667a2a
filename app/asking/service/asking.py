"""The steps around a question: an estimate, questions back, and the rubric as a contract."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID, uuid4

from pydantic import ValidationError

from app.asking.nouns import Estimate
from app.asking.service.estimating import combine_estimates, estimate_run
from app.asking.storage import drafts, history, rubrics
from app.asking.storage.rubrics import StoredRubric
from app.database.engine import Executor, forbid_repetition
from app.domain.contract import Draft, DraftKind, DraftRequest
from app.domain.errors import Conflict, InvalidInput, NotFound, Unavailable
from app.domain.pricing import PricedModel
from app.domain.query import ResearchQuery, SystemName
from app.domain.rubric import Criterion, Origin, Rubric
from app.domain.scorecard import Scorecard
from app.models.storage.resolution import resolve_roles
from app.runs.nouns import AgreedRubric
from app.runs.service.gateway import RunGateway
from app.runs.service.runs import Admit, Runs
from app.runs.storage import evidence


class StoredDraft(NamedTuple):
    """A draft and the id under which it is stored."""

    id: UUID
    draft: Draft


class Asking:
    """The use cases before a run, and those of its rubric. `model` is the one that this installation uses, with its prices.

    `admit` raises when the caller may not spend anything more on drafts.

    Raises:
        NotFound: no such run or draft.
        TooManyRequests: the month's quota is used up; then nothing is drafted.
        Unavailable: the database or the workers do not answer.
    """

    def __init__(
        self,
        database: Executor,
        gateway: RunGateway,
        runs: Runs,
        model: PricedModel | None = None,
        admit: Admit | None = None,
    ) -> None:
        self._database = database
        self._gateway = gateway
        self._runs = runs
        self._model = model
        self._admit = admit

    async def estimate(self, query: ResearchQuery, beside: Sequence[SystemName] = ()) -> Estimate:
        """Estimate what a run of this query will take, with those of the systems `beside` it.

        Raises:
            InvalidInput: a system is not available, or is named twice.
        """
        queries = self._runs.list_queries(query, beside, uuid4())
        combined = combine_estimates([await self._estimate(each) for each in queries])
        return combined.model_copy(update={"refusal": await self._runs.find_refusal()})

    async def _estimate(self, query: ResearchQuery) -> Estimate:
        runs = await history.find_alike(self._database, query, self._model.name if self._model else "")
        return estimate_run(query, self._model, runs)

    async def draft(self, kind: DraftKind, query: ResearchQuery) -> StoredDraft:
        """Draft a rubric or questions back for a question that is no run yet; store the draft with its cost."""
        if self._admit is not None:
            await self._admit(self._database)
        query = query.model_copy(update={"models": await resolve_roles(self._database)})
        draft = await self._gateway.draft(DraftRequest(kind=kind, query=query))
        if kind is DraftKind.RUBRIC and draft.rubric is None:
            raise Unavailable("no rubric was drafted; repeat the request")
        with forbid_repetition("a draft was made and has its price"):
            return StoredDraft(await drafts.add(self._database, kind, query.question, draft), draft)

    async def draft_and_agree(self, query: ResearchQuery) -> AgreedRubric:
        """Draft a rubric for the question, and agree to it unchanged."""
        rubric = (await self.draft(DraftKind.RUBRIC, query)).draft.rubric
        assert rubric is not None
        return AgreedRubric(rubric, rubric)

    async def agree(self, criteria: Sequence[Criterion], draft_id: UUID | None) -> AgreedRubric:
        """Return the rubric that a run is asked with. An unchanged draft keeps its origin; the draft is kept beside the rubric.

        Raises:
            InvalidInput: the criteria make no rubric, or there is no such draft.
        """
        kept = await drafts.get(self._database, draft_id, DraftKind.RUBRIC) if draft_id else None
        if draft_id and (kept is None or kept.rubric is None):
            raise InvalidInput(f"there is no drafted rubric {draft_id}")
        drafted = kept.rubric if kept else None
        return AgreedRubric(_rubric_of(criteria, drafted), drafted)

    async def get_rubric(self, run_id: UUID) -> StoredRubric:
        """Return the run's rubric."""
        run = await self._runs.get(run_id)
        stored = await rubrics.get(self._database, run_id)
        if stored is None:
            when = "it is drafted with the plan" if run.query.rubric else "the run was asked without one"
            raise NotFound(f"run {run_id} has no rubric: {when}")
        return stored

    async def edit_rubric(self, run_id: UUID, criteria: Sequence[Criterion]) -> StoredRubric:
        """Replace the run's rubric; its draft is kept.

        Raises:
            InvalidInput: the criteria make no rubric.
            Conflict: the report is being written, or is finished.
        """
        stored = await self.get_rubric(run_id)
        run = await self._runs.get(run_id)
        if run.status.finished or not await rubrics.edit(self._database, run_id, _rubric_of(criteria, stored.drafted)):
            raise Conflict(
                f"the report of run {run_id} is being held to its rubric, or is finished; the rubric can no longer change"
            )
        return await self.get_rubric(run_id)

    async def get_scorecard(self, run_id: UUID) -> Scorecard:
        """Return how well the run's report meets its rubric; who may not read what it was written from gets scores alone."""
        run = await self._runs.get(run_id)
        card = await rubrics.get_scorecard(self._database, run_id)
        if card is None:
            why = f"its status is {run.status}" if run.query.rubric else "it was asked without a rubric"
            raise NotFound(f"run {run_id} has no scorecard; {why}")
        return card if await evidence.may_read(self._database, run_id) else card.without_words()


def _rubric_of(criteria: Sequence[Criterion], drafted: Rubric | None) -> Rubric:
    if drafted is not None and tuple(criteria) == drafted.criteria:
        return drafted
    try:
        return Rubric(criteria=tuple(criteria), origin=Origin.READER)
    except ValidationError as error:
        raise InvalidInput("; ".join(detail["msg"].removeprefix("Value error, ") for detail in error.errors())) from error
