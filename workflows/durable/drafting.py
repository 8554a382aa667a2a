"""Drafts for a question before its run: a workflow with one activity. The caller keeps the result; nothing is stored here."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from temporalio import activity, workflow
from temporalio.common import RetryPolicy, VersioningBehavior

with workflow.unsafe.imports_passed_through():
    from app.domain.contract import DRAFT_WORKFLOW, Draft, DraftKind, DraftRequest
    from app.domain.served_models import ModelRole
    from workflows.agents.clarification import ask_reader_back
    from workflows.agents.codec import speak_as_asked
    from workflows.agents.effort import bounds_of, limits_of
    from workflows.agents.kit import Kit
    from workflows.chat_models.served_book import OpenModel
    from workflows.durable.workshop import Workshop
    from workflows.judging.rubric_generation import draft_rubric
    from workflows.systems.local_record import USUAL_PATIENCE, LocalRecord

DRAFT_ACTIVITY = "draft"
# The reader waits at the page: an outage is reported soon, and one death of a worker is survived.
DRAFT_LIMIT = timedelta(seconds=45)
DRAFT_PATIENCE = replace(USUAL_PATIENCE, whole=timedelta(seconds=20))
DRAFT_RETRIES = RetryPolicy(maximum_attempts=2)


@workflow.defn(name=DRAFT_WORKFLOW, versioning_behavior=VersioningBehavior.AUTO_UPGRADE)
class DraftWorkflow:
    """Asks for one draft."""

    @workflow.run
    async def run(self, request: DraftRequest) -> Draft:
        """Return the draft."""
        draft: Draft = await workflow.execute_activity(
            DRAFT_ACTIVITY, request, result_type=Draft, start_to_close_timeout=DRAFT_LIMIT, retry_policy=DRAFT_RETRIES
        )
        return draft


class DraftActivities:
    """The activity of one worker."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    @activity.defn(name=DRAFT_ACTIVITY)
    async def draft(self, request: DraftRequest) -> Draft:
        """Return the draft that was asked for, with its cost. Without a model, it is what rules can say."""
        record = LocalRecord("draft", patience=DRAFT_PATIENCE)
        models, asks = await self._shop.open_models(request.query), self._shop.asks_a_model
        drafts_rubric = request.kind is DraftKind.RUBRIC
        kit = _make_kit(models[ModelRole.RUBRIC if drafts_rubric else ModelRole.PLANNER], request, record)
        if drafts_rubric:
            drafted = Draft(rubric=await draft_rubric(request.query, kit, asks_a_model=asks))
        else:
            drafted = Draft(questions=await ask_reader_back(request.query, kit, asks_a_model=asks))
        spent = record.usage
        return drafted.model_copy(update={"usage": spent, "model": kit.chat.name if spent.model_calls else ""})


def _make_kit(model: OpenModel, request: DraftRequest, record: LocalRecord) -> Kit:
    query = request.query
    kit = Kit(
        chat=model.chat,
        tools={},
        record=record,
        prompts=model.prompts,
        codec=speak_as_asked(model.codec, query),
        today=datetime.now(UTC).date(),
        clock=lambda: record.elapsed_of("draft"),
        language=query.language,
    )
    return replace(kit, limits=limits_of(query), bounds=bounds_of(query))
