"""What the collector works on, and the validation: reports are written by the policy and judged."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from app.domain.errors import ModelUnavailable
from app.domain.missing import Missing
from training.recipes.reinforcement.best_policy import BY
from training.recipes.reinforcement.policy_source import OpenPolicy
from training.recipes.reinforcement.watching import measure_rollouts
from training.recipes.report_rl.config import ReportConfig
from training.recipes.report_rl.data import ReportMaterial
from training.recipes.report_rl.judging import open_judging
from training.recipes.report_rl.rollout import judge_rollout, write_report
from training.recipes.report_rl.section_writers import SectionSetup
from training.rollouts.nouns import Reward, Rollout, Task
from training.rollouts.rollout_work import Draw, Outcome, RolloutWork
from workflows.agents.kit import Bounds
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord

UNJUDGED = Reward(Missing("it is not judged yet"))


@asynccontextmanager
async def open_work(config: ReportConfig, folder: Path, policy: OpenPolicy) -> AsyncIterator[RolloutWork[ReportMaterial]]:
    """Open the recipe's part of a rollout."""
    setup = make_setup(config)
    async with open_judging(config, folder) as judge_in:

        async def run(draw: Draw[ReportMaterial], record: LocalRecord) -> Outcome:
            return await write_report(draw.task, policy(draw.seed), record, config.writer.kind, setup)

        async def judge(task: Task[ReportMaterial], rollout: Rollout) -> Reward:
            return await judge_rollout(task, rollout, judge_in(task.language))

        yield RolloutWork(run, judge)


async def validate(
    config: ReportConfig, folder: Path, policy: OpenPolicy, tasks: Sequence[Task[ReportMaterial]]
) -> Mapping[str, float]:
    """Return the mean reward of one report for each task, and the means of its parts.

    Raises:
        ModelUnavailable: the judge gave no report a reward.
    """
    async with open_work(config, folder, policy) as work:
        rollouts = await asyncio.gather(*(_sample(work, task, place) for place, task in enumerate(tasks)))
    values = [each.reward.value for each in rollouts if not isinstance(each.reward.value, Missing)]
    if not values:
        raise ModelUnavailable(f"no report of the validation has a reward: {rollouts[0].reward.value}")
    return {BY: fmean(values), **{f"{BY}/{name}": value for name, value in measure_rollouts(rollouts).items()}}


async def _sample(work: RolloutWork[ReportMaterial], task: Task[ReportMaterial], place: int) -> Rollout:
    draw = Draw(task, place, 0, 0, 0)
    record = LocalRecord(draw.episode)
    outcome = await work.run(draw, record)
    rollout = Rollout(task.id, 0, record.trajectory, outcome.output, outcome.end, UNJUDGED)
    return replace(rollout, reward=await work.judge(task, rollout))


def make_setup(config: ReportConfig) -> SectionSetup:
    """Return what section writers need besides a row."""
    section = config.writer
    bounds = Bounds(evidence_chars=section.evidence_chars, section_words=section.section_words, shorten_conversations=False)
    return SectionSetup(PromptLibrary.load(), section.today, bounds)
