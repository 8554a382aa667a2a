"""What Search-RL samples and how it is judged: a search on tape or over collections, and the reward of MindDR Eq. 9."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from app.domain.query import SystemName
from training.recipes.judge_section import OpenKits, open_judges
from training.recipes.rollout_tools import open_tools
from training.recipes.search_rl.agent import SEARCH_AGENT, SEARCHER
from training.recipes.search_rl.config import SearchRLConfig
from training.recipes.search_rl.credit import compose_reward
from training.recipes.search_rl.data import SearchGoal
from training.recipes.search_rl.outcome import judge_outcome, match_outcome
from training.recipes.search_rl.schedule import RewardSchedule
from training.rewards.score import Score
from training.rewards.transcript import transcript_of
from training.rollouts.nouns import Reward, Rollout, Task
from training.rollouts.rollout_work import Draw, RolloutOutcome, RolloutWork
from training.rollouts.run_chain import run_chain
from workflows.systems.local_record import LocalRecord

if TYPE_CHECKING:
    from training.recipes.reinforcement.policy_source import OpenPolicy


@asynccontextmanager
async def open_work(
    config: SearchRLConfig, folder: Path, schedule: RewardSchedule, open_policy: "OpenPolicy"
) -> AsyncIterator[RolloutWork[SearchGoal]]:
    """Open tools and judges. The steps of a rollout are weighed by the weights that are in force when it is judged."""
    async with open_tools(config.tools) as make_tools, open_judges(config.judges, folder, config.chain.today) as open_kits:
        setup = config.chain.set_up(SystemName.MINDDR, SEARCH_AGENT, make_tools)
        tools = frozenset(make_tools())

        async def run(draw: Draw[SearchGoal], record: LocalRecord) -> RolloutOutcome:
            return await run_chain(draw.task.question, draw.task.language, open_policy(draw.seed), record, setup)

        async def judge(task: Task[SearchGoal], rollout: Rollout) -> Reward:
            transcript = transcript_of(rollout.trajectory, SEARCHER, tools)
            outcome = await _judge_outcome(task, rollout, open_kits)
            return compose_reward(transcript, task.material.entities, outcome, schedule.weights, config.published)

        yield RolloutWork(run, judge)


async def _judge_outcome(task: Task[SearchGoal], rollout: Rollout, open_kits: OpenKits) -> Score:
    answer = task.material.answer
    if judges := open_kits(task.language):
        return await judge_outcome(judges, task.question, answer, rollout.output)
    return match_outcome(answer, rollout.output)
