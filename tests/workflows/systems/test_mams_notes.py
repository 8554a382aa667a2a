"""What MaMs reads in chunks and keeps as its notes."""

import asyncio
import json
import random
import re
from collections.abc import Sequence

from app.domain.budget import AgentLimits
from app.domain.chat import ChatRequest, Completion
from app.domain.errors import ModelRefused
from app.domain.evidence import Passage
from app.domain.query import Effort, ResearchQuery, SystemName
from retrieval.ports import SearchFilter
from tests.workflows.agent_kit import make_kit, make_record, step_of
from tests.workflows.small_corpus import SmallCorpus
from tests.workflows.systems.one_question import (
    IDS,
    QUESTION,
    answer_soundly,
    make_passage,
    prompt_of,
    run_system,
)
from workflows.agents.effort import bounds_of, limits_of
from workflows.agents.markov import MARKOV
from workflows.agents.markov.chunks import cut_chunks
from workflows.agents.markov.roles import cut_memory, merge_memory
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering


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


def test_passages_share_a_chunk_while_they_fit() -> None:
    passages = [("p1", make_passage("Duties rose.")), ("p2", make_passage("Wool doubled.", 2))]
    room = sum(len(chunk) for chunk in cut_chunks(passages, 20)) + len("\n")
    assert len(cut_chunks(passages, room)) == 1
    assert len(cut_chunks(passages, room - 1)) == 2


def test_a_sentence_longer_than_a_chunk_is_cut() -> None:
    chunks = cut_chunks([("p1", make_passage("duties " * 700))], 1_000)
    assert len(chunks) >= 5
    assert max(map(len, chunks)) < 1_200
