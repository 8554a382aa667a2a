"""MaMs' own way: three roles, a state that is kept, chunks, and turns that end."""

import asyncio
import json
import random
import re
from collections.abc import Sequence

from app.domain.budget import AgentLimits, StopReason
from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ModelRefused
from app.domain.evidence import Passage
from app.domain.query import Effort, Language, ResearchQuery, SystemName
from retrieval.ports import SearchFilter
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.small_corpus import SmallCorpus
from tests.workflows.systems.one_question import (
    ALONE,
    IDS,
    QUESTION,
    answer_soundly,
    list_searches,
    make_passage,
    prompt_of,
    run_system,
)
from workflows.agents.codec import TagCodec
from workflows.agents.effort import bounds_of, limits_of
from workflows.agents.kit import Bounds
from workflows.agents.markov import MARKOV
from workflows.agents.markov.chunks import cut_chunks
from workflows.agents.markov.roles import cut_memory, merge_memory
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering


def never_done(request: ChatRequest) -> ScriptedAnswer:
    """Searches for more whenever it is asked what to do."""
    if step_of(request) == "markov_search":
        return json.dumps({"plan": "- [ ] more", "thought": "", "action": "search", "inputs": [f"tariff {random.random()}"]})
    return answer_soundly(request)


async def test_state_and_report_agents_read_the_state_before_their_chunk() -> None:
    _, _, model = await run_system(SystemName.MAMS)
    states = [r for r in model.requests if step_of(r) == "markov_state"]
    reports = [r for r in model.requests if r.response_schema is None]
    assert len(states) == len(reports) >= 1
    for state, report in zip(states, reports, strict=True):
        memory = re.compile(r"<memory>(.*?)</memory>", re.DOTALL)
        assert memory.findall(prompt_of(state)) == memory.findall(prompt_of(report))
    assert "(none)" in prompt_of(states[0])
    after = [r for r in model.requests if step_of(r) == "markov_search"][-1]
    assert "- [x] reasons" in prompt_of(after), "what the state agent made of the plan"


async def test_the_last_turn_is_forced_when_turns_are_used_up() -> None:
    report, _, model = await run_system(SystemName.MAMS, never_done, limits=AgentLimits(max_turns=2))
    assert [step_of(r) for r in model.requests].count("markov_search") == 2
    assert step_of(model.requests[-1]) == "markov_last"
    assert report.quotes


async def test_a_budget_that_ends_before_the_last_turn_leaves_a_report() -> None:
    record = LocalRecord("test", allow=lambda _, usage: StopReason.BUDGET if usage.model_calls >= 3 else None)
    report, _, model = await run_system(SystemName.MAMS, never_done, record, AgentLimits(max_turns=1))
    assert [step_of(r) for r in model.requests] == ["markov_search", "markov_state", "text"]
    assert report.title == "Tariffs"
    assert report.quotes


async def test_roles_are_told_the_calls_left_and_the_length_of_the_report() -> None:
    _, _, model = await run_system(SystemName.MAMS, never_done, limits=AgentLimits(max_turns=9, max_tool_calls=3))
    moves = [prompt_of(r) for r in model.requests if step_of(r) == "markov_search"]
    assert [re.findall(r"(\S+) tool calls are left", move) for move in moves] == [["3"], ["2"], ["1"]]
    writers = [prompt_of(r) for r in model.requests if r.response_schema is None]
    assert all(f"about {Bounds().sections * Bounds().section_words} words" in writer for writer in writers)


class Plenty(SmallCorpus):
    """Sixteen passages of some 1,500 characters for every query, none of them met before."""

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        self.queries.append(query)
        start = 16 * len(self.queries)
        return [
            make_passage(f"Passage {n} says of wool. " + f"Its duty was {n} cents. " * 60, n) for n in range(start, start + 16)
        ]


async def test_every_passage_that_a_turn_brought_is_read_by_both_roles() -> None:
    def asks_five(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "markov_search" and "[p1]" not in prompt_of(request):
            asked = [f"tariff {n}" for n in range(5)]
            return json.dumps({"plan": "- [ ] more", "thought": "", "action": "search", "inputs": asked})
        return answer_soundly(request)

    model, record, corpus = ScriptedModel(asks_five), make_record(), Plenty()
    query = ResearchQuery(question=QUESTION, system=SystemName.MAMS, effort=Effort.QUICK)
    kit = make_kit(model, record, corpus, limits=limits_of(query), bounds=bounds_of(query))
    await research(query, LocalStages(MARKOV, kit, record, query), PlanSteering())
    assert corpus.queries[:5] == [f"tariff {n}" for n in range(5)]
    for role in ("markov_state", "text"):
        read = {short for r in model.requests if step_of(r) == role for short in IDS.findall(prompt_of(r))}
        assert read == {f"p{n}" for n in range(1, 81)}, role


def test_systems_that_work_the_whole_question_have_equal_limits_of_their_own() -> None:
    limits = [limits_of(ResearchQuery(question="x?", system=system, effort=Effort.QUICK)) for system in ALONE]
    assert {(one.max_turns, one.max_tool_calls) for one in limits} == {(10, 50)}
    assert limits_of(ResearchQuery(question="x?", effort=Effort.QUICK)).max_turns == 4


async def test_in_tags_the_plan_has_a_place() -> None:
    said = iter(
        [
            "<think>t</think><plan>- [ ] revenue</plan>"
            '<tool_call>{"name": "search", "arguments": {"query": "tariff"}}</tool_call>',
            "<think>t</think><plan>- [x] revenue</plan><answer>done</answer>",
        ]
    )

    def in_tags(request: ChatRequest) -> ScriptedAnswer:
        prompt = prompt_of(request)
        if "You lead a research step by step" in prompt:
            assert "inside <plan> and </plan>" in prompt
            return next(said)
        if "<answer>: one JSON object" in prompt or "one JSON object with exactly these fields" in prompt:
            return '<think>t</think><answer>{"memory": ["Fact [p1]"], "plan": ""}</answer>'
        return "<answer># Tariffs\n\nRevenue [p1].</answer>"

    model, record = ScriptedModel(in_tags), make_record()
    query = ResearchQuery(question=QUESTION, system=SystemName.MAMS)
    kit = make_kit(model, record, codec=TagCodec())
    report = await research(query, LocalStages(MARKOV, kit, record, query), PlanSteering())
    moves = [prompt_of(r) for r in model.requests if "You lead a research step by step" in prompt_of(r)]
    assert "- [ ] revenue" in moves[1]
    assert report.quotes


async def test_a_search_that_is_repeated_is_sampled_anew_and_then_ended() -> None:
    def stuck(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "markov_search":
            return json.dumps({"plan": "- [ ] more", "thought": "", "action": "search", "inputs": ["tariff revenue"]})
        return answer_soundly(request)

    report, record, model = await run_system(SystemName.MAMS, stuck, limits=AgentLimits(max_turns=10))
    moves = [r.temperature > 0 for r in model.requests if step_of(r) == "markov_search"]
    assert moves == [False, False, False, True]
    assert len(list_searches(record)) == 1
    assert report.quotes


async def test_a_search_that_was_sampled_anew_may_go_on_as_before() -> None:
    wanted = iter(["tariff revenue"] * 3 + ["duties on wool", "iron", "ships"])

    def wavering(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "markov_search" and (query := next(wanted, "")):
            return json.dumps({"plan": "- [ ] more", "thought": "", "action": "search", "inputs": [query]})
        return answer_soundly(request)

    told: list[str] = []
    record = LocalRecord("test", watch=lambda _, __, payload: told.append(str(payload.get("message", ""))))
    _, _, model = await run_system(SystemName.MAMS, wavering, record, AgentLimits(max_turns=6))
    moves = [r for r in model.requests if step_of(r) == "markov_search"]
    assert [r.temperature > 0 for r in moves] == [False, False, False, True, False, False]
    assert prompt_of(moves[3]) == prompt_of(moves[2]), "the repetition was not taken back"
    assert sum("sampled anew" in message for message in told) == 1


async def test_a_chunk_that_fails_leaves_the_state_as_it_was() -> None:
    def forgetful(request: ChatRequest) -> ScriptedAnswer:
        return ModelRefused("too much") if step_of(request) == "markov_state" else answer_soundly(request)

    told: list[str] = []
    record = LocalRecord("test", watch=lambda _, agent, payload: told.append(f"{agent}: {payload.get('message', '')}"))
    report, _, _ = await run_system(SystemName.MAMS, forgetful, record, AgentLimits(max_turns=2))
    assert "search/s1/state: A part of what was found could not be worked in: too much" in told
    assert report.title == "Tariffs"
    assert report.quotes


def test_old_facts_are_not_forgotten() -> None:
    old = ("Duties rose in 1828 [p1]", "Wool doubled [p2]", "A remark without evidence")
    assert merge_memory(old, ("Wool doubled in price [p2, p5]",)) == (
        "Duties rose in 1828 [p1]",
        "Wool doubled in price [p2, p5]",
    )
    merged = merge_memory(("x" * 9_000 + " [p1]", "y" * 9_000 + " [p2]"), ("new [p3]",))
    assert cut_memory(merged) == ("y" * 9_000 + " [p2]", "new [p3]")


async def test_notes_that_are_cut_are_told() -> None:
    chance = random.Random(0)
    long, longer, plan = ("".join(chance.choices("abcdefghijklmnop", k=chars)) for chars in (9_000, 9_001, 3_007))

    def verbose(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "markov_state":
            return json.dumps({"memory": [f"{long} [p1]", f"{longer} [p1]"], "plan": plan})
        return answer_soundly(request)

    told: list[str] = []
    record = LocalRecord("test", watch=lambda _, agent, payload: told.append(f"{agent}: {payload.get('message', '')}"))
    await run_system(SystemName.MAMS, verbose, record, AgentLimits(max_turns=2))
    assert "search/s1/state: The notes are full: the 1 oldest were left out, and 7 characters of the plan" in told


def test_chunks_keep_all_text_and_end_at_boundaries() -> None:
    paragraphs = [f"Paragraph {n} begins. " + "It says something more of note. " * 12 for n in range(9)]
    long = make_passage("\n\n".join(paragraphs).strip())
    chunks = cut_chunks([("p1", long), ("p2", make_passage("Short one.", 2))], 1_000)
    assert len(chunks) > 3
    assert all(f"Paragraph {n} begins." in "".join(chunks) for n in range(9))
    assert all(chunk.count("<snippet") == chunk.count("</snippet>") for chunk in chunks)
    bodies = re.findall(r"<snippet[^>]*>\n(.*?)\n</snippet>", "\n".join(chunks), re.DOTALL)
    assert all(body.rstrip().endswith(".") for body in bodies)
    assert sum(map(len, (body.replace("\n", "") for body in bodies))) >= len(long.text.replace("\n", "")) - 60


async def test_a_move_in_tags_is_a_plan_and_an_action() -> None:
    def tagged(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) != "markov_search":
            return answer_soundly(request)
        if "[p1]" in prompt_of(request):
            return "<answer>done</answer>"
        call = {"name": "search", "arguments": {"query": ["tariff revenue", "tariff protection"]}}
        return f"<plan>- [ ] the reasons</plan><tool_call>{json.dumps(call)}</tool_call>"

    report, record, model = await run_system(SystemName.MAMS, tagged)
    assert report.quotes
    assert list_searches(record) == ["tariff revenue", "tariff protection"]
    state = next(r for r in model.requests if step_of(r) == "markov_state")
    assert "- [ ] the reasons" in prompt_of(state)
    assert "<plan>\n- [ ] the reasons\n</plan>" in prompt_of(state), "the tags of the answer are no part of the plan"


async def test_what_an_action_owes_is_told_with_the_next_question() -> None:
    def stubborn(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "markov_search":
            return json.dumps({"plan": "", "thought": "", "action": "search", "inputs": ["tariff revenue"]})
        return answer_soundly(request)

    _, _, model = await run_system(SystemName.MAMS, stubborn, limits=AgentLimits(max_turns=3))
    moves = [prompt_of(r) for r in model.requests if step_of(r) == "markov_search"]
    assert ["You already asked this" in move for move in moves] == [False, False, True]


async def test_both_agents_of_a_chunk_are_asked_at_once() -> None:
    class Counting(ScriptedModel):
        under_way = most = 0

        async def complete(self, request: ChatRequest) -> Completion:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            await asyncio.sleep(0.01)
            self.under_way -= 1
            return await super().complete(request)

    model, record = Counting(answer_soundly), LocalRecord("test")
    query = ResearchQuery(question=QUESTION, system=SystemName.MAMS)
    await research(query, LocalStages(MARKOV, make_kit(model, record), record, query), PlanSteering())
    assert model.most == 2


async def test_time_is_counted_from_the_beginning() -> None:
    now = [1_000.0]

    def slow(request: ChatRequest) -> ScriptedAnswer:
        now[0] += 10
        return never_done(request)

    record = LocalRecord("test", clock=lambda: now[0])
    report, _, model = await run_system(SystemName.MAMS, slow, record, AgentLimits(max_seconds=45))
    assert [step_of(r) for r in model.requests].count("markov_search") == 3, (
        "30 s for the first turn, 10 s for one that finds nothing new"
    )
    assert step_of(model.requests[-1]) == "markov_last"
    assert report.quotes


def test_passages_share_a_chunk_while_they_fit() -> None:
    passages = [("p1", make_passage("Duties rose.")), ("p2", make_passage("Wool doubled.", 2))]
    room = sum(len(chunk) for chunk in cut_chunks(passages, 20)) + len("\n")
    assert len(cut_chunks(passages, room)) == 1
    assert len(cut_chunks(passages, room - 1)) == 2


def test_a_sentence_longer_than_a_chunk_is_cut() -> None:
    chunks = cut_chunks([("p1", make_passage("duties " * 700))], 1_000)
    assert len(chunks) >= 5
    assert max(map(len, chunks)) < 1_200


async def test_chinese_runs_are_asked_in_chinese() -> None:
    _, _, model = await run_system(SystemName.MAMS, language=Language.CHINESE)
    assert "记忆" in prompt_of(model.requests[0])


async def test_each_role_is_an_agent_of_its_own_on_the_record() -> None:
    _, record, _ = await run_system(SystemName.MAMS)
    assert {turn.agent for turn in record.trajectory.turns} == {"search/s1", "search/s1/state", "search/s1/report"}
