"""What the collector works on, and the validation: reports are written by the policy and judged."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import fmean

from app.domain.missing import Missing
from training.recipes.held_out import MISSING, sample_held_out
from training.recipes.reinforcement.best_policy import BY
from training.recipes.reinforcement.policy_source import OpenPolicy
from training.recipes.reinforcement.watching import measure_rollouts
from training.recipes.report_rl.config import ReportConfig
from training.recipes.report_rl.data import ReportMaterial
from training.recipes.report_rl.judging import open_judging
from training.recipes.report_rl.reward import write_rubric
from training.recipes.report_rl.rollout import judge_rollout, write_report
from training.recipes.report_rl.section_writers import SectionSetup
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import Draw, RolloutOutcome, RolloutWork
from workflows.agents.kit import Bounds
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord


@asynccontextmanager
async def open_work(config: ReportConfig, folder: Path, policy: OpenPolicy) -> AsyncIterator[RolloutWork[ReportMaterial]]:
    """Open the recipe's part of a rollout."""
    setup = make_setup(config)
    async with open_judging(config, folder) as judge_in:

        async def run(draw: Draw[ReportMaterial], record: LocalRecord) -> RolloutOutcome:
            rubric = await write_rubric(draw.task.question, judge_in(draw.task.language))
            if isinstance(rubric, Missing):  # what is sampled could not be judged
                record.outage = rubric.reason
                return RolloutOutcome("", RolloutEnd.FAILED, rubric.reason)
            return await write_report(draw.task, policy(draw.seed), record, config.writer.kind, setup)

        async def judge(task: Task[ReportMaterial], rollout: Rollout) -> Reward:
            return await judge_rollout(task, rollout, judge_in(task.language))

        yield RolloutWork(run, judge)


async def validate(
    config: ReportConfig, folder: Path, policy: OpenPolicy, tasks: Sequence[Task[ReportMaterial]]
) -> Mapping[str, float]:
    """Return the mean reward of one report for each task, and the means of its parts.

    Raises:
        CollectionFailed: no report has a reward.
    """
    rollouts = await sample_held_out(tasks, open_work(config, folder, policy))
    values = [each.reward.value for each in rollouts if not isinstance(each.reward.value, Missing)]
    missing = 1 - len(values) / len(tasks)
    return {BY: fmean(values), MISSING: missing, **{f"{BY}/{name}": value for name, value in measure_rollouts(rollouts).items()}}


def make_setup(config: ReportConfig) -> SectionSetup:
    """Return what section writers need besides a row."""
    section = config.writer
    bounds = Bounds(evidence_chars=section.evidence_chars, section_words=section.section_words, shorten_conversations=False)
    return SectionSetup(PromptLibrary.load(), section.today, bounds)
