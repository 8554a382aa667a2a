"""What is sampled and how it is judged: a system of the product on local tools, and the reward of its report."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from app.domain.evidence_rubric import EvidenceRubric
from app.domain.missing import Missing
from app.domain.rubric import Rubric
from training.recipes.agent_rl.config import AgentRLConfig
from training.recipes.agent_rl.data import KnownRubric
from training.recipes.agent_rl.reward import ReportReader, reward_report
from training.recipes.judge_section import open_judges
from training.recipes.rollout_tools import open_tools
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import Draw, RolloutOutcome, RolloutWork
from training.rollouts.run_chain import run_chain
from workflows.judging.rubric_generation import write_query_specific_rubric
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local_record import LocalRecord

if TYPE_CHECKING:
    from training.recipes.reinforcement.policy_source import OpenPolicy


@asynccontextmanager
async def open_work(config: AgentRLConfig, folder: Path, open_policy: "OpenPolicy") -> AsyncIterator[RolloutWork[KnownRubric]]:
    """Open tools, judge and, where rubrics are written during the run, their generator.

    A rubric is written before the first rollout of its task; the judges' store keeps it.
    """
    models = [config.judge, *([config.generator] if config.generator else [])]
    async with open_tools(config.tools) as make_tools, open_judges(models, folder, config.chain.today) as open_kits:
        setup = config.chain.set_up(config.system, AGENTS[config.system], make_tools, config.one_conversation)
        tools = frozenset(make_tools())

        async def find_rubric(task: Task[KnownRubric]) -> EvidenceRubric | Rubric | Missing:
            return task.material or await write_query_specific_rubric(open_kits(task.language)[-1], task.question)

        async def run(draw: Draw[KnownRubric], record: LocalRecord) -> RolloutOutcome:
            if isinstance(rubric := await find_rubric(draw.task), Missing):  # what is sampled could not be judged
                record.outage = rubric.reason  # the policy wrote nothing, so its reward is missing even if the writer is back
                return RolloutOutcome("", RolloutEnd.FAILED, rubric.reason)
            return await run_chain(draw.task.question, draw.task.language, open_policy(draw.seed), record, setup)

        async def judge(task: Task[KnownRubric], rollout: Rollout) -> Reward:
            if isinstance(rubric := await find_rubric(task), Missing):
                return Reward(rubric)
            reader = ReportReader(config.system, tools, open_kits(task.language)[0])
            return await reward_report(task.question, rollout, rubric, config.reward, reader)

        yield RolloutWork(run, judge)
