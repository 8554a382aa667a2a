"""Searches and reports by the product's chain, over the tape of the task.

The limits are those that the prompts named from which the policies learned. What is out of form is asked for again, as in
serving.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.domain.query import Language, ResearchQuery, SystemName
from app.domain.trajectory import Trajectory
from bench.learning_tasks import agents, cold_start, searches
from bench.learning_tasks.beginnings import Start
from bench.learning_tasks.counted_agents import count_agent
from bench.learning_tasks.counted_searches import count_search
from bench.learning_tasks.planted_facts import plant_facts
from bench.learning_tasks.planted_searches import plant_works, read_findings
from bench.learning_tasks.short_searches import LengthQuestion, rate_search, record_searches, split_questions
from bench.served_tasks.policies import ask_all, make_kit
from training.recipes.chain_section import ChainSection
from training.recipes.config import TINY
from training.recipes.rollout_tools import MakeTools, play_tape, read_tape
from training.recipes.search_rl.agent import SEARCH_AGENT
from workflows.agents.agent_set import AgentSet
from workflows.agents.kit import Bounds, Kit
from workflows.chat_models.served_book import OpenModel
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.stages import StageFailed
from workflows.systems.steering import PlanSteering

DEEPRUBRIC = AGENTS[SystemName.DEEPRUBRIC]


async def rate_short_searches(model: OpenModel, seed: int, _: Path) -> list[Mapping[str, float]]:
    """Have the held-out questions of `sft_cold_start` worked, and rate what the policy says while it searches."""
    unseen = split_questions(seed)[1]
    asked = [unseen[n % len(unseen)] for n in range(cold_start.ITEMS)]

    async def work(each: LengthQuestion) -> Mapping[str, float]:
        record, tools = LocalRecord(each.text), play_tape(record_searches([each]))()
        kit = make_kit(model, record, tools, cold_start.LIMITS, Bounds(shorten_conversations=False))
        return rate_search(cold_start.list_outputs(await work_question(each.text, DEEPRUBRIC, kit, record)), each)

    return await ask_all([partial(work, each) for each in asked])


async def rate_planted_searches(model: OpenModel, seed: int, folder: Path) -> list[Mapping[str, float]]:
    """Have the held-out questions of `search_rl` searched, and rate the calls."""
    held_out, tape = plant_works(seed)[1], folder / searches.WHOLE_TAPE
    chain = searches.describe_rl(Path(TINY), tape, seed, searches.FORM_ALONE, Start()).chain
    asked, findings = [held_out[n % len(held_out)] for n in range(searches.ITEMS)], read_findings(tape)
    worked = await work_all(model, [each.question for each in asked], SEARCH_AGENT, chain, play_tape(read_tape(tape)))
    return [count_search(each).rate(about, findings) for each, about in zip(worked, asked, strict=True)]


async def rate_planted_reports(model: OpenModel, seed: int, folder: Path) -> list[Mapping[str, float]]:
    """Have the held-out questions of `agent_rl` reported on, and rate turns and facts."""
    held_out, tape = plant_facts(seed)[1], folder / agents.WHOLE_TAPE
    chain = agents.describe_rl(Path(TINY), tape, seed, agents.WHOLE, Start()).chain
    asked, findings = [held_out[n % len(held_out)] for n in range(agents.ITEMS)], read_findings(tape)
    worked = await work_all(model, [each.question for each in asked], DEEPRUBRIC, chain, play_tape(read_tape(tape)))
    return [count_agent(each).rate(about, findings) for each, about in zip(worked, asked, strict=True)]


async def work_all(
    model: OpenModel, questions: list[str], system: AgentSet, chain: ChainSection, make_tools: MakeTools
) -> list[Trajectory]:
    """Return the turns of each question, worked within the limits of a configuration."""

    async def work(number: int, question: str) -> Trajectory:
        record = LocalRecord(str(number))
        kit = chain.caps.cap(make_kit(model, record, make_tools()))
        return await work_question(question, system, replace(kit, bounds=replace(kit.bounds, observe_faults=False)), record)

    return await ask_all([partial(work, n, question) for n, question in enumerate(questions)])


async def work_question(question: str, system: AgentSet, kit: Kit, record: LocalRecord) -> Trajectory:
    """Return the turns in which the chain works a question; those of a stage that fails for good are among them."""
    named = SystemName.DEEPRUBRIC if system is DEEPRUBRIC else SystemName.MINDDR
    query = ResearchQuery(question=question, language=Language.ENGLISH, system=named, one_conversation=system is DEEPRUBRIC)
    with contextlib.suppress(StageFailed):
        await research(query, LocalStages(system, kit, record, query), PlanSteering())
    return record.trajectory
