"""MindDR's inference pipeline (section 3.1): plan, deep searches in parallel where the plan allows it, report.

What the searches leave open may open a second round, once. A run that brings a report up to date opens none: the plan that it
repeats has had its own. It runs unchanged inside a Temporal workflow: it uses tasks and one queue, no
waiting on sets, no clock, no I/O.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from app.domain.budget import StopReason
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report
from workflows.systems.stages import StageFailed, Stages
from workflows.systems.steering import PlanSteering

STEERED = ""


async def research(query: ResearchQuery, stages: Stages, steering: PlanSteering) -> Report:
    """Answer a question with a report. A search that fails for good becomes a finding that says so; the report uses the others.

    Raises:
        StageFailed: planning or report writing failed for good.
        Exception: any error with which a stage halts the run, once every running search has halted too.
    """
    if steering.plan is None:
        steering.begin(await stages.plan(query))
    searches = _Searches(stages, steering)
    findings = await searches.gather()
    if query.refreshes is None and any(found.gaps or found.conflicts for found in findings.values()):
        await _open_second_round(stages, steering, findings)
        findings = await searches.gather()
    plan = steering.close()
    return await stages.report(plan, tuple(findings[s.id] for s in plan.subtasks))


async def _open_second_round(stages: Stages, steering: PlanSteering, findings: Mapping[str, Finding]) -> None:
    """Add the planner's further subtasks to the plan. A planner that fails for good adds none.

    The plan is kept here and not by the planner's stage, which cannot know what a person changes while it works.
    """
    plan, further = steering.current_plan(), tuple[Subtask, ...]()
    with suppress(StageFailed):
        further = await stages.plan_second_round(plan, tuple(findings[s.id] for s in plan.subtasks))
    before = steering.current_plan()
    if (longer := steering.extend(further)) is not before:
        await stages.keep_plan(longer, steering.dropped)


class _Searches:
    """The searches of one run: which are running, what came back, what halted."""

    def __init__(self, stages: Stages, steering: PlanSteering) -> None:
        self._stages = stages
        self._steering = steering
        self._happened: asyncio.Queue[str] = asyncio.Queue()
        self._running: dict[str, asyncio.Task[Finding]] = {}
        self._findings: dict[str, Finding] = {}
        self._halt: BaseException | None = None
        steering.watch(lambda: self._happened.put_nowait(STEERED))

    async def gather(self) -> dict[str, Finding]:
        """Run all searches and return the findings by subtask id."""
        try:
            self._begin_ready()
            while self._running:
                self._take_result(await self._happened.get())
                self._begin_ready()
        except (Exception, asyncio.CancelledError):
            # Not `finally`: a workflow that Temporal only evicts from memory is closed here too, and must not await then.
            await self._cancel_all()
            raise
        if self._halt is not None:
            raise self._halt
        return self._findings

    def _begin_ready(self) -> None:
        """Begin every search that can begin, in plan order. After a halt nothing new begins; what runs halts by itself."""
        plan = self._steering.current_plan()
        if self._halt is not None:
            return
        for subtask in plan.subtasks:
            if subtask.id in self._steering.dropped and subtask.id not in self._running and subtask.id not in self._findings:
                self._findings[subtask.id] = make_dropped_finding(subtask)
        for subtask in plan.list_ready(frozenset(self._findings), frozenset(self._running)):
            self._begin_search(subtask, plan)

    def _begin_search(self, subtask: Subtask, plan: ResearchPlan) -> None:
        task = asyncio.create_task(self._search(subtask, plan))
        task.add_done_callback(lambda _: self._happened.put_nowait(subtask.id))
        self._running[subtask.id] = task

    async def _search(self, subtask: Subtask, plan: ResearchPlan) -> Finding:
        try:
            return await self._stages.search(subtask, plan)
        except StageFailed as failure:
            return Finding(subtask_id=subtask.id, stop=StopReason.FAILED, detail=str(failure))

    def _take_result(self, happening: str) -> None:
        """Take the result of a search that ended: a finding, or the run's halt (pause, cancel, a bug)."""
        task = self._running.pop(happening, None)
        if task is None:
            return
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            self._findings[happening] = task.result()
        elif self._halt is None:
            self._halt = error

    async def _cancel_all(self) -> None:
        """Cancel the searches that still run and wait for their end. There are some only when this system itself is cancelled."""
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)


def make_dropped_finding(subtask: Subtask) -> Finding:
    """Return the finding of a subtask that was dropped before its agent began."""
    return Finding(subtask_id=subtask.id, stop=StopReason.DROPPED, detail="dropped before it began")
