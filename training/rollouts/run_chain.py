"""A rollout of the product's own chain: any of the four systems over `LocalStages`, with the policy as its model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from app.domain.budget import AgentLimits, StopReason
from app.domain.evidence import Finding
from app.domain.query import Effort, Language, ResearchQuery, SystemName
from app.domain.trajectory import Trajectory
from training.evaluation.harness.answering import render_plain
from training.rollouts.nouns import RolloutEnd
from training.rollouts.rollout_work import RolloutOutcome
from workflows.agents.agent_set import AgentSet
from workflows.agents.codec import StepCodec
from workflows.agents.kit import Bounds, Kit
from workflows.agents.ports import ChatModel, Tool
from workflows.agents.rollout_caps import RolloutCaps
from workflows.prompts.library import PromptLibrary
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering

LIMITED = frozenset(
    {
        StopReason.MAX_TURNS,
        StopReason.MAX_TOOL_CALLS,
        StopReason.MAX_TOKENS,
        StopReason.MAX_COST,
        StopReason.MAX_TIME,
        StopReason.REPEATING,
        StopReason.BUDGET,
    }
)
CUT = "length"


@dataclass(frozen=True, slots=True)
class ChainSetup:
    """A system as it is trained: its agents, how it asks, its tools and its limits.

    `make_tools` makes the tools of one rollout: live ones, or those of a tape (`workflows/tools/taped_tools`), whose answers are
    the same in each rollout. Each call of the search agents is bounded by `limits`, and what they read by `bounds`; `caps`, where
    they are given, stand above both. With `one_conversation` DeepRubric's agent ends its search with the report (DRub D.1).
    """

    system: SystemName
    agents: AgentSet
    codec: StepCodec
    prompts: PromptLibrary
    make_tools: Callable[[], Mapping[str, Tool]]
    today: date
    limits: AgentLimits
    bounds: Bounds
    effort: Effort = Effort.STANDARD
    caps: RolloutCaps | None = None
    one_conversation: bool = False


async def run_chain(
    question: str, language: Language, policy: ChatModel, record: LocalRecord, setup: ChainSetup
) -> RolloutOutcome:
    """Work a question to its report, which is the output, with numbered citations. The turns are in the record.

    Raises:
        StageFailed: planning or report writing failed for good.
        Exception: whatever else an agent raises; the turns before it are in the record.
    """
    query = ResearchQuery(
        question=question,
        language=language,
        system=setup.system,
        effort=setup.effort,
        one_conversation=setup.one_conversation,
    )
    kit = Kit(
        chat=policy,
        tools=setup.make_tools(),
        record=record,
        prompts=setup.prompts,
        codec=setup.codec,
        today=setup.today,
        clock=lambda: 0.0,
        limits=setup.limits,
        bounds=setup.bounds,
        language=language,
    )
    stages = LocalStages(setup.agents, setup.caps.cap(kit) if setup.caps else kit, record, query)
    report = await research(query, stages, PlanSteering())
    return RolloutOutcome(render_plain(report), find_end(stages.findings, record.trajectory), describe_stops(stages.findings))


def find_end(findings: tuple[Finding, ...], trajectory: Trajectory) -> RolloutEnd:
    """Return how a rollout with a report ended: by a limit, if one ended a search or cut off what an agent said last."""
    if is_cut_off(trajectory) or any(finding.stop in LIMITED for finding in findings):
        return RolloutEnd.CAPPED
    return RolloutEnd.FAILED if all(finding.stop is StopReason.FAILED for finding in findings) else RolloutEnd.FINISHED


def is_cut_off(trajectory: Trajectory) -> bool:
    """Say whether the last answer of an agent was cut off: of a section's writer as of the last agent of all."""
    last = {turn.agent: turn.completion for turn in trajectory.turns if turn.completion}
    return any(completion.finish_reason == CUT for completion in last.values())


def describe_stops(findings: tuple[Finding, ...]) -> str:
    """Name the searches that the policy did not end itself, and why they ended."""
    odd = (f for f in findings if f.stop is not StopReason.SUFFICIENT)
    return "; ".join(f"{f.subtask_id}: {f.detail or f.stop}" for f in odd)
