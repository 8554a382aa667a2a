"""The systems that work a question as a whole: MaMs, ReAct and DeepRubric's agent, over the same stages as the chain."""

import asyncio
import json
import random

import pytest

from app.domain.budget import AgentLimits
from app.domain.chat import ChatRequest
from app.domain.citations import MARKER
from app.domain.errors import ModelRefused
from app.domain.query import ResearchQuery, SystemName
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.random_answers import RandomAnswers
from tests.workflows.systems.one_question import (
    ALONE,
    QUESTION,
    answer_soundly,
    cited_keys_of,
    list_searches,
    make_passage,
    prompt_of,
    run_system,
)
from workflows.agents.draft_quotes import quote_draft
from workflows.agents.notebook import Notebook
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.agent_sets import AGENTS


@pytest.mark.parametrize("system", ALONE)
async def test_a_report_whose_citations_are_exact_quotes(system: SystemName) -> None:
    report, record, _ = await run_system(system)
    assert report.title == "Tariffs"
    assert "Reasons" in [section.heading for section in report.sections]
    assert not any("References" in section.heading for section in report.sections)
    keys = {quote.key for quote in report.quotes}
    assert cited_keys_of(report) == keys != set()
    assert report.claims
    passages = [p for turn in record.trajectory.turns if turn.result for p in turn.result.passages]
    for quote in report.quotes:
        assert any(
            p.source == quote.source
            and quote.text in p.text
            and p.text[quote.start - p.start : quote.end - p.start] == quote.text
            for p in passages
        )


@pytest.mark.parametrize("system", ALONE)
async def test_a_run_cut_off_anywhere_goes_on_to_the_same_report(system: SystemName) -> None:
    whole, record, model = await run_system(system)
    turns = record.trajectory.turns
    for cut in range(0, len(turns), max(1, len(turns) // 4)):
        again, _, second = await run_system(system, record=make_record(turns[:cut]))
        assert again == whole
        assert len(second.requests) == len(model.requests) - sum(turn.completion is not None for turn in turns[:cut])


@pytest.mark.parametrize("system", ALONE)
async def test_any_answers_lead_to_some_report(system: SystemName) -> None:
    for seed in range(12):
        foolish = RandomAnswers(random.Random(seed))
        report, _, _ = await run_system(system, foolish, limits=AgentLimits(max_turns=3, max_tool_calls=6))
        assert report.sections
        assert cited_keys_of(report) <= {quote.key for quote in report.quotes}


@pytest.mark.parametrize("system", ALONE)
async def test_without_a_model_that_answers_the_sources_are_quoted(system: SystemName) -> None:
    report, _, _ = await run_system(system, lambda _: ModelRefused("no credit"))
    assert report.quotes
    assert any("no credit" in notice for notice in report.notices)


@pytest.mark.parametrize("system", ALONE)
async def test_who_wants_to_finish_at_once_searches_for_the_question_first(system: SystemName) -> None:
    requests: list[ChatRequest] = []

    def hasty(request: ChatRequest) -> ScriptedAnswer:
        requests.append(request)
        if len(requests) > 1:
            return answer_soundly(request)
        if system is SystemName.DEEPRUBRIC:
            return "<think>t</think><answer>done</answer>"
        return json.dumps({"plan": "", "thought": "", "action": "finish", "inputs": []})

    report, record, _ = await run_system(system, hasty)
    assert list_searches(record)[0] == QUESTION
    assert record.trajectory.turns[1].call, "the first answer is followed by the search, not by another answer"
    assert report.quotes


async def test_the_quotations_of_a_long_draft_keep_no_other_run_waiting() -> None:
    notebook, turns = Notebook(), 0
    notebook.add_passage(make_passage("Duties on wool were doubled in 1828. Cotton was shipped to Liverpool by merchants."))

    async def another_run() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(another_run())
    await quote_draft("Merchants shipped cotton to Liverpool [p1]. " * 80, notebook)
    other.cancel()
    assert turns >= 20


async def test_a_citation_becomes_the_sentence_it_stands_for() -> None:
    notebook = Notebook()
    notebook.add_passage(make_passage("Duties on wool were doubled in 1828. Cotton was shipped to Liverpool by merchants."))
    found = await quote_draft("Merchants shipped cotton to Liverpool [p1]. Wool paid double duties [p1, p7]. [p9]", notebook)
    assert [quote.text for quote in found.quotes] == [
        "Cotton was shipped to Liverpool by merchants.",
        "Duties on wool were doubled in 1828.",
    ]
    assert found.invented == 2
    assert MARKER.sub("#", found.text) == "Merchants shipped cotton to Liverpool #. Wool paid double duties #."


async def test_a_plan_is_the_question_itself() -> None:
    for system in ALONE:
        kit = make_kit(ScriptedModel([]), make_record())
        plan = await AGENTS[system].plan(ResearchQuery(question=QUESTION), kit)
        assert [s.question for s in plan.subtasks] == [QUESTION]


async def test_react_goes_on_with_a_digest_of_what_it_found() -> None:
    _, _, model = await run_system(SystemName.REACT)
    first, second = (prompt_of(request) for request in model.requests if step_of(request) == "act")
    assert "it protected makers" not in first
    assert "it protected makers [p2]" in second
    assert "<snippet" not in second, "the results themselves are not kept"
