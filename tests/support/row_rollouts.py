"""Rollouts of a whole system for checks of training rows: as the product serves it, and as recipes train it."""

from contextlib import suppress

from app.domain.query import Language, ResearchQuery, SystemName
from app.domain.trajectory import Trajectory
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.systems.one_question import QUESTION
from training.recipes.chain_section import ChainSection
from training.rollouts.run_chain import run_chain
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Bounds
from workflows.agents.ports import ChatModel
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local import LocalStages
from workflows.systems.minddr import research
from workflows.systems.stages import StageFailed
from workflows.systems.steering import PlanSteering

CHAIN = ChainSection(turns=6, calls_per_turn=2, observation_tokens=300, action_tokens=200, conversation_tokens=3_000)


async def run_as_served(system: SystemName, policy: ChatModel) -> Trajectory:
    """Run a system with the product's limits, but that no conversation is shortened."""
    record = make_record()
    kit = make_kit(policy, record, codec=TagCodec(), bounds=Bounds(shorten_conversations=False))
    query = ResearchQuery(question=QUESTION, system=system)
    await research(query, LocalStages(AGENTS[system], kit, record, query), PlanSteering())
    return record.trajectory


async def run_as_trained(system: SystemName, policy: ChatModel) -> Trajectory:
    """Run a system under the caps of a recipe: faults are observed, nothing is replaced, DeepRubric has one conversation.

    A report that cannot be written is a failure, as in training; its turns are rows all the same.
    """
    record = make_record()
    tools = make_kit(policy, record).tools
    setup = CHAIN.set_up(system, AGENTS[system], lambda: tools, one_conversation=system is SystemName.DEEPRUBRIC)
    with suppress(StageFailed):
        await run_chain(QUESTION, Language.ENGLISH, policy, record, setup)
    return record.trajectory
