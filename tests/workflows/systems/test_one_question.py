"""The systems that work a question as a whole: MaMs, ReAct and DeepRubric's agent, over the same stages as the chain."""

import asyncio
import json
import random
import re
from collections.abc import Callable

import pytest

from app.domain.budget import AgentLimits
from app.domain.chat import ChatRequest
from app.domain.citations import MARKER
from app.domain.errors import ModelRefused
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.query import Language, ResearchQuery, SystemName
from app.domain.report import Report
from tests.workflows.bench_of_agents import make_kit, new_record, step_of
from tests.workflows.foolish import Foolish
from workflows.agents.drafts import with_quotes
from workflows.agents.markov.chunks import chunks_of
from workflows.agents.markov.roles import kept
from workflows.agents.notebook import Notebook
from workflows.chat_models.scripted import Scripted, ScriptedModel
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import Steering

QUESTION = "Why were tariffs laid?"
IDS = re.compile(r'<snippet id="(p\d+)"')
ALONE = (SystemName.MAMS, SystemName.REACT, SystemName.DEEPRUBRIC)


def prompt_of(request: ChatRequest) -> str:
    return "\n".join(message.content for message in request.messages)


def sound(request: ChatRequest) -> Scripted:
    """Searches once, reads, writes a report that cites the first two passages it was shown, and one that it invented."""
    said, step = prompt_of(request), step_of(request)
    ids = list(dict.fromkeys(IDS.findall(said)))
    if step == "markov_search":
        done = "[p1]" in said
        return json.dumps(
            {
                "plan": "- [x] reasons" if done else "- [ ] reasons",
                "thought": "",
                "action": "finish" if done else "search",
                "inputs": [] if done else ["tariff revenue", "tariff protection"],
            }
        )
    if step == "markov_state":
        return json.dumps({"memory": [f"Fact of {name} [{name}]" for name in ids], "plan": "- [x] reasons"})
    if step == "act":
        return json.dumps(
            {"thought": "", "action": "finish", "inputs": []}
            if "tool_response" in said.partition("=== ")[0] and len(request.messages) > 3
            else {"thought": "", "action": "search", "inputs": ["tariff revenue", "tariff protection"]}
        )
    if request.response_schema is not None:
        return json.dumps({"plan": "- [x] reasons"})
    return text(said)


def text(said: str) -> str:
    if "<think>" in said and "cite id" in said:
        if "The search is over" not in said:
            return (
                '<think>t</think><tool_call>{"name": "search", "arguments": {"query": "tariff revenue"}}</tool_call>'
                if "snippet" not in said
                else "<think>t</think><answer>done</answer>"
            )
        spans = '<cite id="p1">The tariff was to bring revenue.</cite> <cite id="p99">It was a king.</cite>'
        return f"<think>t</think><answer># Tariffs\n\n## Reasons\n\n{spans}</answer>"
    if "hand on what bears" in said:
        return "The tariff brought revenue [p1]; it protected makers [p2]."
    reasons = "The tariff was to bring revenue [p1], and to protect [p2, p99]."
    return f"# Tariffs\n\nIn short, revenue [p1].\n\n## Reasons\n\n{reasons}\n\n## References\n\n[p1] somewhere"


async def ran(
    system: SystemName,
    script: Callable[[ChatRequest], Scripted] = sound,
    record: LocalRecord | None = None,
    limits: AgentLimits | None = None,
    language: Language = Language.ENGLISH,
) -> tuple[Report, LocalRecord, ScriptedModel]:
    record, model = record or new_record(), ScriptedModel(script)
    kit = make_kit(model, record, limits=limits or AgentLimits(max_turns=6), language=language)
    query = ResearchQuery(question=QUESTION, system=system, language=language)
    report = await research(query, LocalStages(AGENTS[system], kit, record, query), Steering())
    return report, record, model


def cited(report: Report) -> set[str]:
    return {key for section in report.sections for key in MARKER.findall(section.body)}


@pytest.mark.parametrize("system", ALONE)
async def test_a_report_whose_citations_are_exact_quotes(system: SystemName) -> None:
    report, record, _ = await ran(system)
    assert report.title == "Tariffs"
    assert "Reasons" in [section.heading for section in report.sections]
    assert not any("References" in section.heading for section in report.sections)
    keys = {quote.key for quote in report.quotes}
    assert cited(report) == keys != set()
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
    whole, record, model = await ran(system)
    turns = record.trajectory.turns
    for cut in range(0, len(turns), max(1, len(turns) // 4)):
        again, _, second = await ran(system, record=new_record(turns[:cut]))
        assert again == whole
        assert len(second.requests) == len(model.requests) - sum(turn.completion is not None for turn in turns[:cut])


@pytest.mark.parametrize("system", ALONE)
async def test_any_answers_lead_to_some_report(system: SystemName) -> None:
    for seed in range(12):
        foolish = Foolish(random.Random(seed))
        report, _, _ = await ran(system, foolish, limits=AgentLimits(max_turns=3, max_tool_calls=6))
        assert report.sections
        assert cited(report) <= {quote.key for quote in report.quotes}


@pytest.mark.parametrize("system", ALONE)
async def test_without_a_model_that_answers_the_sources_are_quoted(system: SystemName) -> None:
    report, _, _ = await ran(system, lambda _: ModelRefused("no credit"))
    assert report.quotes
    assert any("no credit" in notice for notice in report.notices)


async def test_state_and_report_agents_read_the_state_before_their_chunk() -> None:
    _, _, model = await ran(SystemName.MAMS)
    states = [r for r in model.requests if step_of(r) == "markov_state"]
    reports = [r for r in model.requests if r.response_schema is None]
    assert len(states) == len(reports) >= 1
    for state, report in zip(states, reports, strict=True):
        memory = re.compile(r"<memory>(.*?)</memory>", re.DOTALL)
        assert memory.findall(prompt_of(state)) == memory.findall(prompt_of(report))
    assert "(none)" in prompt_of(states[0])


async def test_the_last_turn_is_forced_when_turns_are_used_up() -> None:
    def never_done(request: ChatRequest) -> Scripted:
        if step_of(request) == "markov_search":
            return json.dumps({"plan": "- [ ] more", "thought": "", "action": "search", "inputs": [f"tariff {random.random()}"]})
        return sound(request)

    report, _, model = await ran(SystemName.MAMS, never_done, limits=AgentLimits(max_turns=2))
    assert [step_of(r) for r in model.requests].count("markov_search") == 2
    assert step_of(model.requests[-1]) == "markov_last"
    assert report.quotes


async def test_a_chunk_that_fails_leaves_the_state_as_it_was() -> None:
    def forgetful(request: ChatRequest) -> Scripted:
        return ModelRefused("too much") if step_of(request) == "markov_state" else sound(request)

    report, _, _ = await ran(SystemName.MAMS, forgetful, limits=AgentLimits(max_turns=2))
    assert report.title == "Tariffs"
    assert report.quotes


def test_old_facts_are_not_forgotten() -> None:
    old = ("Duties rose in 1828 [p1]", "Wool doubled [p2]", "A remark without evidence")
    assert kept(old, ("Wool doubled in price [p2, p5]",)) == ("Duties rose in 1828 [p1]", "Wool doubled in price [p2, p5]")
    assert kept(("x" * 9_000 + " [p1]", "y" * 9_000 + " [p2]"), ("new [p3]",)) == ("y" * 9_000 + " [p2]", "new [p3]")


def passage(text: str, number: int = 1) -> Passage:
    source = Source(url=f"https://example.org/{number}", title=f"Paper {number}", snapshot=snapshot_hash(text))
    return Passage(source=source, text=text, start=0, end=len(text))


def test_chunks_keep_all_text_and_end_at_boundaries() -> None:
    paragraphs = [f"Paragraph {n} begins. " + "It says something more of note. " * 12 for n in range(9)]
    long = passage("\n\n".join(paragraphs).strip())
    chunks = chunks_of([("p1", long), ("p2", passage("Short one.", 2))], 1_000)
    assert len(chunks) > 3
    assert all(f"Paragraph {n} begins." in "".join(chunks) for n in range(9))
    assert all(chunk.count("<snippet") == chunk.count("</snippet>") for chunk in chunks)
    bodies = re.findall(r"<snippet[^>]*>\n(.*?)\n</snippet>", "\n".join(chunks), re.DOTALL)
    assert all(body.rstrip().endswith(".") for body in bodies)
    assert sum(map(len, (body.replace("\n", "") for body in bodies))) >= len(long.text.replace("\n", "")) - 60


async def test_the_quotations_of_a_long_draft_keep_no_other_run_waiting() -> None:
    notebook, turns = Notebook(), 0
    notebook.note(passage("Duties on wool were doubled in 1828. Cotton was shipped to Liverpool by merchants."))

    async def another_run() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(another_run())
    await with_quotes("Merchants shipped cotton to Liverpool [p1]. " * 80, notebook)
    other.cancel()
    assert turns >= 20


async def test_a_citation_becomes_the_sentence_it_stands_for() -> None:
    notebook = Notebook()
    notebook.note(passage("Duties on wool were doubled in 1828. Cotton was shipped to Liverpool by merchants."))
    found = await with_quotes("Merchants shipped cotton to Liverpool [p1]. Wool paid double duties [p1, p7]. [p9]", notebook)
    assert [quote.text for quote in found.quotes] == [
        "Cotton was shipped to Liverpool by merchants.",
        "Duties on wool were doubled in 1828.",
    ]
    assert found.invented == 2
    assert MARKER.sub("#", found.text) == "Merchants shipped cotton to Liverpool #. Wool paid double duties #."


async def test_a_plan_is_the_question_itself() -> None:
    for system in ALONE:
        kit = make_kit(ScriptedModel([]), new_record())
        plan = await AGENTS[system].plan(ResearchQuery(question=QUESTION), kit)
        assert [s.question for s in plan.subtasks] == [QUESTION]


async def test_chinese_runs_are_asked_in_chinese() -> None:
    _, _, model = await ran(SystemName.MAMS, language=Language.CHINESE)
    assert "记忆" in prompt_of(model.requests[0])


async def test_each_role_is_an_agent_of_its_own_on_the_record() -> None:
    _, record, _ = await ran(SystemName.MAMS)
    assert {turn.agent for turn in record.trajectory.turns} == {"search/s1", "search/s1/state", "search/s1/report"}
