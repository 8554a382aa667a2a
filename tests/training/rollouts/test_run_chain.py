"""A rollout of the product's own chain, for each system, with tools from a tape."""

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.domain.budget import AgentLimits, StopReason
from app.domain.chat import ChatRequest, Completion, Message
from app.domain.errors import ModelRefused
from app.domain.query import Language, SystemName
from retrieval.tape import Tape
from tests.training.rollouts.small_rollouts import judge_by_number
from tests.workflows.agent_kit import PROMPTS, TODAY, make_record
from tests.workflows.sensible_model import answer_sensibly
from tests.workflows.small_corpus import SmallCorpus
from tests.workflows.systems.one_question import ALONE, IDS, QUESTION, answer_soundly, prompt_of
from training.rollouts.collect import Collector
from training.rollouts.collector_settings import CollectorSettings
from training.rollouts.nouns import Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import Draw, RolloutOutcome, RolloutWork
from training.rollouts.run_chain import ChainSetup, run_chain
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Bounds
from workflows.agents.ports import Tool
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local_record import LocalRecord
from workflows.tools.taped_tools import TapeMode, tape_tools
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import ToolCorpora, build_toolbox


def make_live_tools() -> Mapping[str, Tool]:
    corpus = SmallCorpus()
    return build_toolbox(corpus, corpus, ToolCorpora(), ToolMemory(DictToolStore()))


def make_setup(system: SystemName, tape: Tape | None = None, mode: TapeMode = TapeMode.RECORD, turns: int = 6) -> ChainSetup:
    def make_tools() -> Mapping[str, Tool]:
        return make_live_tools() if tape is None else tape_tools(make_live_tools(), tape, mode)

    limits = AgentLimits(max_turns=turns)
    return ChainSetup(system, AGENTS[system], SchemaCodec(), PROMPTS, make_tools, TODAY, limits, Bounds())


def answer_in_tags(request: ChatRequest) -> str:
    """Search once, finish, then write with spans, as DeepRubric's agent is asked to."""
    prompt = prompt_of(request)
    if "The search is over" in prompt:
        return '<think>t</think><answer># Tariffs\n\n<cite id="p1">The tariff was to bring revenue.</cite></answer>'
    if IDS.search(prompt):
        return "<think>t</think><answer>done</answer>"
    return '<think>t</think><tool_call>{"name": "search", "arguments": {"query": "tariff revenue"}}</tool_call>'


SCRIPTS = {
    SystemName.MINDDR: answer_sensibly,
    SystemName.MAMS: answer_soundly,
    SystemName.REACT: answer_soundly,
    SystemName.DEEPRUBRIC: answer_in_tags,
}


async def roll_out(system: SystemName, turns: int = 6) -> tuple[RolloutOutcome, LocalRecord]:
    record = make_record()
    policy = ScriptedModel(SCRIPTS[system])
    outcome = await run_chain(QUESTION, Language.ENGLISH, policy, record, make_setup(system, turns=turns))
    return outcome, record


@pytest.mark.parametrize("system", SystemName)
async def test_each_system_delivers_its_report_and_keeps_its_turns(system: SystemName) -> None:
    outcome, record = await roll_out(system)
    assert outcome.end is RolloutEnd.FINISHED
    assert "[1]" in outcome.output
    assert {turn.kind.value for turn in record.trajectory.turns} == {"model", "tool"}


@pytest.mark.parametrize("system", ALONE)
async def test_a_rollout_that_a_limit_ends_is_capped(system: SystemName) -> None:
    outcome, _ = await roll_out(system, turns=1)
    assert outcome.end is RolloutEnd.CAPPED
    assert StopReason.MAX_TURNS in outcome.detail


async def test_a_report_that_was_cut_off_is_capped() -> None:
    def cut_texts(request: ChatRequest) -> ScriptedAnswer:
        said = answer_soundly(request)
        in_text = isinstance(said, str) and request.response_schema is None
        return Completion(text=said, model="scripted", finish_reason="length") if in_text else said

    setup = make_setup(SystemName.REACT)
    outcome = await run_chain(QUESTION, Language.ENGLISH, ScriptedModel(cut_texts), make_record(), setup)
    assert outcome.end is RolloutEnd.CAPPED


async def test_a_section_that_was_cut_off_caps_a_rollout_whatever_others_said_after_it() -> None:
    cut: list[tuple[Message, ...]] = []

    def cut_first_section(request: ChatRequest) -> ScriptedAnswer:
        said = answer_sensibly(request)
        opening = request.messages[:2]
        if not isinstance(said, str) or request.response_schema is not None or (cut and opening != cut[0]):
            return said
        cut.append(opening)
        return Completion(text=said, model="scripted", finish_reason="length")

    record, setup = make_record(), replace(make_setup(SystemName.MINDDR), bounds=Bounds(evidence_chars=300))
    outcome = await run_chain(QUESTION, Language.ENGLISH, ScriptedModel(cut_first_section), record, setup)
    assert [turn.completion.finish_reason for turn in record.trajectory.turns if turn.completion][-1] != "length"
    assert outcome.end is RolloutEnd.CAPPED


def answer_by_seed(seed: int) -> ScriptedModel:
    """Answer soundly, but search for words that depend on the seed."""

    def answer(request: ChatRequest) -> ScriptedAnswer:
        said = answer_soundly(request)
        return re.sub("tariff protection", f"tariff of 18{seed % 100}", said) if isinstance(said, str) else said

    return ScriptedModel(answer)


async def collect_rollouts(setup: ChainSetup, seed: int) -> tuple[Rollout, ...]:
    async def run(draw: Draw[int], record: LocalRecord) -> RolloutOutcome:
        return await run_chain(draw.task.question, draw.task.language, answer_by_seed(draw.seed), record, setup)

    settings = CollectorSettings(group_size=3, groups_a_step=1, seed=seed)
    tasks = [Task("t0", QUESTION, Language.ENGLISH, 0)]
    async with Collector(tasks, RolloutWork(run, judge_by_number), settings) as collector:
        (group,) = await collector.next_batch(1)
    return group.rollouts


def sayings_of(rollouts: tuple[Rollout, ...]) -> list[object]:
    """Return what rollouts said and saw, without their clock."""
    return [
        (rollout.output, rollout.end, [turn.model_copy(update={"elapsed_s": 0.0}) for turn in rollout.trajectory.turns])
        for rollout in rollouts
    ]


async def test_the_same_seed_and_tape_give_the_same_rollouts() -> None:
    tape = Tape()
    live = await collect_rollouts(make_setup(SystemName.REACT, tape), seed=1)
    assert len({turn.digest for rollout in live for turn in rollout.trajectory.turns if turn.call}) == len(tape) == 4
    replayed = await collect_rollouts(make_setup(SystemName.REACT, tape, TapeMode.STRICT), seed=1)
    assert sayings_of(replayed) == sayings_of(live)


async def test_a_call_that_a_strict_tape_lacks_costs_its_rollout_only() -> None:
    tape = Tape()
    await collect_rollouts(make_setup(SystemName.REACT, tape), seed=1)
    others = await collect_rollouts(make_setup(SystemName.REACT, tape, TapeMode.STRICT), seed=2)
    assert [rollout.end for rollout in others] == [RolloutEnd.FAILED] * 3
    assert all("was not recorded" in rollout.detail and rollout.trajectory.turns for rollout in others)


async def test_a_policy_that_answers_nothing_fails() -> None:
    model = ScriptedModel(lambda _: ModelRefused("no weights"))
    outcome = await run_chain(QUESTION, Language.ENGLISH, model, make_record(), make_setup(SystemName.REACT))
    assert outcome.end is RolloutEnd.FAILED
    assert "no weights" in outcome.detail
