"""A second report over the same evidence, by a real worker: nothing is searched again, and a kill costs nothing twice."""

from uuid import UUID

import orjson

from app.accounts.nouns.access import LOCAL_USER
from app.comparisons.service.comparisons import Comparisons
from app.domain.run import EventType, RunStatus
from app.domain.writer import WriterSettings
from app.preferences.nouns.feedback import CandidatePlace, ComparisonStatus
from tests.workflows.durable.toys import Gate, ToyModel
from tests.workflows.durable.whole_product import WholeProduct

FIRST = 17  # plan 1, searches 3 x 3, report 1 + 3 x 2
WRITING = 7


class Other(ToyModel):
    """A model that words things in its own way."""

    async def complete(self, request):  # type: ignore[no-untyped-def]
        answer = await super().complete(request)
        return answer.model_copy(update={"text": answer.text.replace("re:", "as to")})


async def test_only_the_writing_is_done_again_and_paid_for_in_its_own_ledger(house: WholeProduct) -> None:
    comparisons, other = Comparisons(house.database, house.runs, house.steering), Other(name="other")
    gate = Gate("section 2")
    other.hook = gate
    async with house.start_worker(others=[other]):
        run_id = await house.ask()
        first = await house.wait_for(run_id, RunStatus.COMPLETED)
        searched = len(house.index.searched)
        made = await comparisons.create(run_id, WriterSettings(model="other"), LOCAL_USER)
        await gate.reached.wait()
        assert (await comparisons.show(made.id, LOCAL_USER)).status is ComparisonStatus.PREPARING
    # The worker is gone in the middle of the writing; another one goes on from the stored turns.
    gate.open()
    async with house.start_worker(others=[other]):
        second = await house.wait_for(made.made_run_id, RunStatus.COMPLETED)
        shown = await comparisons.show(made.id, LOCAL_USER)
    assert shown.status is ComparisonStatus.READY
    assert (len(house.model.asked), len(house.index.searched)) == (FIRST, searched)
    assert len(set(other.answered)) == WRITING
    assert (first.usage.model_calls, second.usage.model_calls) == (FIRST, WRITING)
    assert (await house.get_run(run_id)).usage == first.usage
    delivered, alternative = shown.candidates[CandidatePlace.DELIVERED], shown.candidates[CandidatePlace.ALTERNATIVE]
    assert ("re: section 1" in delivered.markdown, "as to section 1" in alternative.markdown) == (True, True)
    assert (delivered.lineage.model, alternative.lineage.model) == ("toy", "other")
    stages = [event["payload"]["stage"] for event in await house.list_events(UUID(str(second.id)), EventType.STAGE_STARTED)]
    assert set(stages) == {"report"}
    assert await citations(house, run_id) == await citations(house, second.id)


async def citations(house: WholeProduct, run_id: UUID) -> set[str]:
    """The quotes that a run's report may cite."""
    stored = (await house.runs.get_run_and_report(run_id))[1]
    return {quote["text"] for quote in orjson.loads(stored.report)["quotes"]}
