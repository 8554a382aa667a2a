"""Where the model did not do its part, the report says so first, in a reader's words."""

import json
import re
from collections.abc import Callable

import pytest

from app.domain.budget import StopReason, Usage
from app.domain.chat import ChatRequest
from app.domain.query import Language, SystemName
from app.domain.report import Report
from tests.workflows.agent_kit import make_kit, make_record, run_chain, step_of
from tests.workflows.agents.scripted_report import FOUND, PLAN, QUERY, RAISE, rendered, write, writing
from tests.workflows.sensible_model import answer_sensibly
from tests.workflows.systems.one_question import answer_soundly, prompt_of, run_system
from workflows.agents.brief import write_brief
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord

QUESTION = {Language.ENGLISH: "Why were tariffs laid?", Language.CHINESE: "为什么征收关税？"}
UNWRITTEN = {Language.ENGLISH: "No sentence of this report is the language model's", Language.CHINESE: "没有一句话出自语言模型"}
INTERNAL = re.compile(r"aggregation|consistency|outline|JSON|put the id|\[p3\]|请在每个陈述|search/|finding")
Script = Callable[[ChatRequest], ScriptedAnswer]


async def run(script: Script, language: Language = Language.ENGLISH) -> Report:
    record = make_record()
    return await run_chain(make_kit(ScriptedModel(script), record, language=language), record, QUESTION[language])


def sensible_but(step: str, answer: str) -> Script:
    return lambda request: answer if step_of(request) == step else answer_sensibly(request)


def without_report(request: ChatRequest) -> ScriptedAnswer:
    return answer_soundly(request) if request.response_schema else "I cannot."


@pytest.mark.parametrize("language", Language)
async def test_a_report_without_the_model_begins_with_that_and_names_nothing_internal(language: Language) -> None:
    report = await run(lambda _: "gibberish", language)
    assert UNWRITTEN[language] in report.notices[0]
    assert not any(INTERNAL.search(notice) for notice in report.notices)
    assert len(set(report.notices)) == len(report.notices) <= 3
    if language is Language.CHINESE:
        assert not any(re.search("[A-Za-z]{3}", notice) for notice in report.notices)


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("system", [SystemName.MAMS, SystemName.REACT])
async def test_a_draft_that_was_never_written_is_told_first(system: SystemName, language: Language) -> None:
    report, _, _ = await run_system(system, without_report, language=language)
    assert UNWRITTEN[language] in report.notices[0]
    assert {Language.ENGLISH: "cites no passage", Language.CHINESE: "没有引用任何段落"}[language] in report.notices[0]
    assert not any(INTERNAL.search(notice) for notice in report.notices)


async def test_a_finding_that_fails_after_its_search_is_told_with_its_part() -> None:
    report = await run(sensible_but("finding", "nonsense"))
    parts = [notice for notice in report.notices if "chosen by how well they match it, not by the model" in notice]
    assert parts == list(report.notices[:3])
    assert "“tariff and revenue of the treasury”" in parts[0]


async def test_a_finding_whose_citations_are_all_invented_is_told() -> None:
    invented = json.dumps({"answer": "So [p99].", "passages": [], "gaps": [], "conflicts": []})
    report = await run(sensible_but("finding", invented))
    assert "(it cites no passage that was seen)" in report.notices[0]


async def test_a_question_that_could_not_be_split_is_told() -> None:
    report = await run(sensible_but("plan", "nonsense"))
    assert report.notices[0].startswith("The language model could not split the question into parts")


async def test_results_that_were_not_summed_up_are_told() -> None:
    def without_digest(request: ChatRequest) -> ScriptedAnswer:
        return "" if "hand on what bears" in prompt_of(request) else answer_soundly(request)

    report, _, _ = await run_system(SystemName.REACT, without_digest)
    assert report.title == "Tariffs"
    assert report.notices[0].startswith("The language model could not sum up 1 results")


async def test_sections_that_the_budget_left_to_quotes_are_named_first() -> None:
    record = LocalRecord("t", allow=lambda _, usage: StopReason.BUDGET if usage.model_calls >= 2 else None)
    report = await write(writing(), record=record)
    assert RAISE.text in rendered(report)
    assert report.notices[0].startswith("In “What it cost” no sentence is the language model's (the budget was reached)")


@pytest.mark.parametrize("what", ["Workshops_and_wages", "What_it_cost"])
async def test_a_report_of_which_the_model_wrote_half_stays_a_report(what: str) -> None:
    report = await write(writing(**{what: ""}))
    assert report.notices[0].startswith(f"In “{what.replace('_', ' ')}” no sentence is the language model's")
    assert "Workshops and wages" in [section.heading for section in report.sections]


async def test_a_brief_of_all_evidence_takes_the_place_of_a_report_that_the_model_did_not_write() -> None:
    asked = tuple(finding.model_copy(update={"usage": Usage(model_calls=1)}) for finding in FOUND)
    report = await write(writing(Workshops_and_wages="", What_it_cost="Nobody knows."), asked)
    assert report.notices[0].startswith("The language model did not write most of this report")
    parts = [section.heading for section in report.sections if section.level == 2]
    assert parts == [QUERY.question, "Protection"], "first what serves the question, then what is answered with citations"
    assert re.search(r"Protection \[\d\]\.", rendered(report)), "what the search answered with a citation is kept"


async def test_an_address_in_the_model_s_words_does_not_reach_the_reader_of_a_brief() -> None:
    address = "https://evil.example/?q=secret"
    plan = PLAN.model_copy(update={"subtasks": tuple(s.model_copy(update={"title": f"See {address}"}) for s in PLAN.subtasks)})
    spent = [f.model_copy(update={"answer": f"[Read]({address}) {f.answer}", "usage": Usage(model_calls=1)}) for f in FOUND]
    report = await write_brief(QUERY, plan, tuple(spent), make_kit(writing(), make_record()))
    assert "evil" not in rendered(report)
    assert "Read Protection [1]." in rendered(report)
