"""An A/B of section writers and the single pass over one plan and its evidence, on real Temporal and PostgreSQL."""

from app.accounts.nouns.access import LOCAL_USER
from app.comparisons.service.candidates import NOT_AS_ASKED
from app.comparisons.service.comparisons import Comparisons, ShownComparison
from app.domain.chat import ChatRequest
from app.domain.run import RunStatus
from app.domain.writer import Composition, WriterSettings
from app.preferences.nouns.feedback import CandidatePlace
from tests.workflows.agent_kit import PROMPTS
from tests.workflows.durable.whole_product import WholeProduct
from tests.workflows.sensible_model import answer_sensibly
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.chat_models.scripted import AnswerScript, ScriptedModel
from workflows.durable.worker import run_worker

WHOLE = "# Reasons\n\n## Summary\n\nThey gave a reason [q1].\n\n## What follows\n\nNothing more is known [q1]."


def writes_whole_report(request: ChatRequest) -> bool:
    return request.response_schema is None and "the best research report you can" in request.messages[1].content


async def compare(house: WholeProduct, script: AnswerScript) -> ShownComparison:
    """Have a report written by section writers, and a second one by a single pass."""
    comparisons = Comparisons(house.database, house.runs, house.steering)
    shop = house.make_workshop(MODEL_DRIVEN, chat=ScriptedModel(script), prompts=PROMPTS)
    async with run_worker(house.client, shop, "test-single-pass"):
        run_id = await house.ask("Why were tariffs laid?", writer=WriterSettings(composition=Composition.SECTIONS))
        await house.wait_for(run_id, RunStatus.COMPLETED)
        made = await comparisons.create(run_id, WriterSettings(composition=Composition.SINGLE_PASS), LOCAL_USER)
        await house.wait_for(made.made_run_id, RunStatus.COMPLETED)
    return await comparisons.show(made.id, LOCAL_USER)


async def test_both_ways_of_writing_are_compared_blind_and_each_report_says_how_it_was_written(house: WholeProduct) -> None:
    shown = await compare(house, lambda request: WHOLE if writes_whole_report(request) else answer_sensibly(request))
    assert shown.viewing is not None, shown.comparison.failure
    ways = {place: candidate.lineage for place, candidate in shown.candidates.items()}
    assert ways[CandidatePlace.DELIVERED].composition == "sections"
    assert ways[CandidatePlace.ALTERNATIVE].composition == "single_pass"
    assert ways[CandidatePlace.ALTERNATIVE].way.startswith("minddr: scripted in one pass")
    assert "in one pass" not in ways[CandidatePlace.DELIVERED].way
    second = shown.candidates[CandidatePlace.ALTERNATIVE]
    assert "## What follows" in second.markdown
    assert "[1]" in second.markdown


async def test_a_single_pass_that_section_writers_had_to_replace_is_not_compared_as_one(house: WholeProduct) -> None:
    shown = await compare(house, lambda request: "No." if writes_whole_report(request) else answer_sensibly(request))
    assert shown.comparison.failure == NOT_AS_ASKED
