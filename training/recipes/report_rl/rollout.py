"""One rollout of Report-RL: the policy writes the report, in one call or as its section writers."""

from app.domain.chat import ChatRequest
from training.recipes.report_rl.config import Writer
from training.recipes.report_rl.data import ReportMaterial
from training.recipes.report_rl.drafts import read_drafts
from training.recipes.report_rl.reward import ReportJudging, SampledReport, judge_report
from training.recipes.report_rl.section_writers import SectionSetup, write_in_sections
from training.rollouts.nouns import Reward, Rollout, RolloutEnd, Task
from training.rollouts.rollout_work import RolloutOutcome
from training.rollouts.run_chain import CUT
from workflows.agents.ports import ChatModel
from workflows.agents.reporting.whole_prompt import WHOLE_REPORT
from workflows.agents.stage_memory import REPORTER
from workflows.systems.local_record import LocalRecord


async def write_report(
    task: Task[ReportMaterial], policy: ChatModel, record: LocalRecord, writer: Writer, setup: SectionSetup
) -> RolloutOutcome:
    """Write a task's report. The output is what the policy encloses as its answer; one that is cut off is `capped`."""
    if writer is Writer.SECTIONS:
        return await write_in_sections(task.question, task.language, task.material.given, policy, record, setup)
    return await write_in_one_call(task, policy, record)


async def write_in_one_call(task: Task[ReportMaterial], policy: ChatModel, record: LocalRecord) -> RolloutOutcome:
    """Ask once, with the prompt that the product serves. Nothing is asked again."""
    request = ChatRequest(messages=task.material.prompt, max_tokens=WHOLE_REPORT.max_tokens)
    completion = await record.ask(REPORTER, WHOLE_REPORT.name, policy, request)
    end = RolloutEnd.CAPPED if completion.finish_reason == CUT else RolloutEnd.FINISHED
    return RolloutOutcome(read_drafts(record.trajectory, task.material.notation)[REPORTER], end)


async def judge_rollout(task: Task[ReportMaterial], rollout: Rollout, judging: ReportJudging) -> Reward:
    """Judge a rollout's report; one that is empty, cut off or failed has its reward too."""
    material = task.material
    drafts = read_drafts(rollout.trajectory, material.notation)
    sample = SampledReport(
        question=task.question,
        text=rollout.output,
        enclosed=bool(drafts) and all(drafts.values()),
        sources=material.sources,
        rubric=material.rubric,
        reference=material.reference,
        reference_citations=material.reference_citations,
    )
    return await judge_report(sample, judging)
