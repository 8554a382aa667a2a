"""Stages as plain calls in this process, over a record in memory. Training, evaluation and replays use them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from app.domain.errors import RubricaError
from app.domain.evidence import Finding, Quote
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.rubric import Rubric
from app.domain.run import EventType
from app.domain.scorecard import Scorecard
from workflows.agents.agent_set import AgentSet
from workflows.agents.asker import Asker
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.kit import Kit
from workflows.agents.memory import SharedMemory
from workflows.agents.planning import make_plan
from workflows.agents.reporting.brief_instead import is_brief_instead
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.report_revision import REVISION_AGENT as REVISER
from workflows.agents.reporting.whole_prompt import show_what_was_read
from workflows.agents.second_round import plan_second_round
from workflows.agents.stage_memory import PLANNER, REPORTER, SECOND_PLANNER, memory_of_report, memory_of_search, path_of_search
from workflows.judging.context import QuoteContext
from workflows.judging.report_verification import verify_report
from workflows.judging.rubric_check import check_against_rubric, make_scorecard
from workflows.judging.second_look import Judges
from workflows.systems.local_record import LocalRecord
from workflows.systems.stages import StageFailed

FindAround: TypeAlias = Callable[[Sequence[Quote]], Awaitable[Mapping[str, QuoteContext]]]


async def find_nothing_around(_: Sequence[Quote]) -> Mapping[str, QuoteContext]:
    """Find no text around quotes: no copies of their sources are kept."""
    return {}


@dataclass
class LocalStages:
    """Runs each stage's agent at once. The kit's record, clock and memory are set for each stage.

    `notes` are a reader's notes for the agents; `judges` grade the report's claims, with the text that `find_around` finds in the
    copies of their sources. With a `rubric` the report is held to it, and `scorecard` says how it did. `judge` is the kit of the
    model that judges; None: the one that works.
    """

    agents: AgentSet
    kit: Kit
    record: LocalRecord
    query: ResearchQuery
    notes: SharedMemory = field(default_factory=SharedMemory)
    judges: Judges = field(default_factory=Judges)
    rubric: Rubric | None = None
    judge: Kit | None = None
    find_around: FindAround = find_nothing_around
    scorecard: Scorecard | None = field(default=None, init=False)
    _findings: dict[str, Finding] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings so far, without those of searches that failed for good."""
        return tuple(self._findings.values())

    async def plan(self, query: ResearchQuery) -> ResearchPlan:
        """Return the planning agent's plan."""
        try:
            return await self.agents.plan(query, self._kit_of(PLANNER, self.notes))
        except RubricaError as error:
            raise StageFailed(str(error)) from error

    async def search(self, subtask: Subtask, plan: ResearchPlan) -> Finding:
        """Return the finding of one deep-search agent, which reads the findings of its ancestors."""
        memory = memory_of_search(subtask, plan, self._findings, self.notes)
        try:
            finding = await self.agents.search(subtask, plan, self.query, self._kit_of(path_of_search(subtask.id), memory))
        except RubricaError as error:
            raise StageFailed(str(error)) from error
        self._findings[subtask.id] = finding
        return finding

    async def plan_second_round(self, plan: ResearchPlan, findings: tuple[Finding, ...]) -> tuple[Subtask, ...]:
        """Return the planning agent's further subtasks; none where no model plans."""
        if self.agents.plan is not make_plan:
            return ()
        kit = self._kit_of(SECOND_PLANNER, memory_of_report(plan, findings, self.notes))
        try:
            return await plan_second_round(self.query, plan, findings, kit)
        except RubricaError as error:
            raise StageFailed(str(error)) from error

    async def keep_plan(self, plan: ResearchPlan, dropped: tuple[str, ...]) -> None:
        """Tell the watchers of the longer plan."""
        await self.record.tell(EventType.PLAN_REVISED, SECOND_PLANNER, {"plan": plan.model_dump(mode="json")})

    async def report(self, plan: ResearchPlan, findings: tuple[Finding, ...]) -> Report:
        """Return the report agent's report with its claims graded."""
        kit = self._kit_of(REPORTER, memory_of_report(plan, findings, self.notes, self.rubric))
        judge = replace(self.judge, record=self.record, clock=kit.clock, memory=kit.memory) if self.judge else kit
        try:
            written = await self.agents.report(self.query, plan, findings, kit)
            known = ReportDesk(kit, self.query, plan, findings, EvidenceBook(findings), Asker(kit, REPORTER))
            read = show_what_was_read(written, known) if judge.chat.name == kit.chat.name else None
            if self.rubric is None:
                around = await self.find_around(written.quotes)
                return await verify_report(written, findings, judge, self.judges, around, read=read)
            desk = ReportDesk(kit, self.query, plan, findings, EvidenceBook(findings, written.quotes), Asker(kit, REVISER))
            writer = None if is_brief_instead(written, self.query.language) else desk
            checked = await check_against_rubric(self.rubric, written, self.query, judge, writer)
            around = await self.find_around(checked.report.quotes)
            report = await verify_report(checked.report, findings, judge, self.judges, around, read=read)
            self.scorecard = await make_scorecard(self.rubric, checked, report, self.query, judge)
            return report
        except RubricaError as error:
            raise StageFailed(str(error)) from error

    def _kit_of(self, stage: str, memory: SharedMemory) -> Kit:
        return replace(self.kit, record=self.record, clock=partial(self.record.elapsed_of, stage), memory=memory)
