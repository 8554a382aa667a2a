"""What MaMs finds before any report is written, and why it stops."""

from collections.abc import Callable

from app.domain.budget import StopReason
from app.domain.chat import ChatRequest
from app.domain.errors import ModelRefused
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.systems.one_question import QUESTION, answer_soundly, list_searches, prompt_of
from workflows.agents.kit import Bounds
from workflows.agents.markov.researching import research_in_turns
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord


async def research_alone(
    script: Callable[[ChatRequest], ScriptedAnswer], record: LocalRecord, bounds: Bounds | None = None
) -> Finding:
    """Have MaMs work the question, and return what it found before any report is written."""
    kit, subtask = make_kit(ScriptedModel(script), record, bounds=bounds), Subtask(id="s1", title="Tariffs", question=QUESTION)
    return await research_in_turns(subtask, ResearchPlan(subtasks=(subtask,)), ResearchQuery(question=QUESTION), kit)


async def test_a_lost_chunk_is_told_only_where_there_is_no_report() -> None:
    def lose_the_report(request: ChatRequest) -> ScriptedAnswer:
        return ModelRefused("too much") if step_of(request) == "text" else answer_soundly(request)

    def lose_the_state(request: ChatRequest) -> ScriptedAnswer:
        return ModelRefused("too much") if step_of(request) == "markov_state" else answer_soundly(request)

    without, with_report = [await research_alone(script, make_record()) for script in (lose_the_report, lose_the_state)]
    assert (without.answer, without.detail) == ("", "too much")
    assert with_report.answer
    assert with_report.detail == ""


async def test_no_money_is_left_to_search_for_a_model_that_cannot_act() -> None:
    refused: list[ChatRequest] = []

    def refuse(request: ChatRequest) -> ScriptedAnswer:
        refused.append(request)
        return ModelRefused("too much")

    record = LocalRecord("test", allow=lambda *_: StopReason.BUDGET if refused else None)
    finding = await research_alone(refuse, record)
    assert finding.stop is StopReason.BUDGET
    assert not list_searches(record)


async def test_a_move_in_a_wrong_form_costs_a_turn_where_faults_are_observed() -> None:
    asked: list[str] = []

    def slip_once(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "markov_search":
            asked.append(prompt_of(request))
            if len(asked) == 1:
                return "no form at all"
        return answer_soundly(request)

    finding = await research_alone(slip_once, make_record(), Bounds(observe_faults=True))
    assert len(asked) == finding.turns == 3
    assert "no form at all" not in asked[1], "the turn is not repaired"
    assert finding.answer
