"""The two workflows of a run: one works, one waits. If either is lost, it is started anew from PostgreSQL."""

import asyncio

from temporalio import workflow
from temporalio.common import VersioningBehavior

with workflow.unsafe.imports_passed_through():
    from app.domain.contract import PARKED_WORKFLOW, RESEARCH_WORKFLOW, Command, Halt, ResearchInput
    from app.domain.run import RunStatus, WaitReason
    from workflows.durable import payloads
    from workflows.durable.durable_stages import DurableStages
    from workflows.durable.failures import StageHalted
    from workflows.durable.plan_updates import PlanUpdates, run_bookkeeping
    from workflows.systems.minddr import research
    from workflows.systems.stages import StageFailed
    from workflows.systems.steering import PlanSteering

REFUSALS = (Halt.MODEL_REFUSED, Halt.CONTEXT_TOO_LONG)
UPGRADED = workflow.ContinueAsNewVersioningBehavior.AUTO_UPGRADE
WAITS = {
    Halt.PAUSE: (RunStatus.PAUSED, "paused; resume it, or finish with what there is", ("resume", "finish", "cancel")),
    Halt.BUDGET: (
        RunStatus.BUDGET_REACHED,
        "the budget is reached; finish with what there is, or raise the budget and resume",
        ("finish", "raise_budget", "cancel"),
    ),
    Halt.MODEL_REFUSED: (
        RunStatus.PAUSED,
        "correct that and resume, or finish without the model",
        ("resume", "finish", "cancel"),
    ),
    Halt.CONTEXT_TOO_LONG: (
        RunStatus.PAUSED,
        "give the model a larger context and resume, ask again with a smaller effort, or finish without the model",
        ("resume", "finish", "cancel"),
    ),
    Halt.APPROVAL: (
        RunStatus.AWAITING_APPROVAL,
        "the plan waits for your approval; change it if you like, then approve it",
        ("approve", "revise_plan", "cancel"),
    ),
}


@workflow.defn(name=RESEARCH_WORKFLOW, versioning_behavior=VersioningBehavior.PINNED)
class ResearchWorkflow(PlanUpdates):
    """Runs the query's system over activities. It stays on the version it began with; a pause moves it to the current one."""

    @workflow.init
    def __init__(self, start: ResearchInput) -> None:
        super().__init__(start.run_id, PlanSteering(start.plan, start.dropped))
        self._start = start
        self._stages = DurableStages(start)
        self._system: asyncio.Task[object] | None = None
        self._resumed = False
        self._approved = start.approved
        self._finish = start.finish
        self._wound_up = False
        self._halted = False
        self._cancelled = False

    @workflow.run
    async def run(self, start: ResearchInput) -> None:
        """Run until there is a report, or the run waits or ends otherwise. The report stage completes the run by itself."""
        self._system = asyncio.ensure_future(self._run_system(start))
        if self._cancelled:
            self._system.cancel()
        try:
            await self._system
        except StageHalted as halted:
            await self._halt_run(halted.halt, halted.reason)
        except asyncio.CancelledError:
            await self._settle_run(RunStatus.CANCELLED, "cancelled")
        except StageFailed as failure:
            await self._settle_run(RunStatus.FAILED, str(failure))
        except Exception:  # noqa: BLE001  (logged below, through the workflow's own logger)
            # A pinned run whose workflow task failed here would fail for ever: no later version could repair it.
            workflow.logger.exception("run %s: the system failed", self._run_id)
            await self._settle_run(RunStatus.FAILED, "an error in the program ended this run; its log has the details")
        await workflow.wait_condition(workflow.all_handlers_finished)

    async def _run_system(self, start: ResearchInput) -> object:
        """Run the system; if a person has to approve the plan first, only make the plan."""
        if start.reopens and not start.finish:
            await self._reopen_refused()
        query = self._start.query
        if start.awaits_approval:
            if self._steering.plan is None:
                self._steering.begin(await self._stages.plan(query))
            raise StageHalted(Halt.APPROVAL)
        return await research(query, self._stages, self._steering)

    async def _reopen_refused(self) -> None:
        """Open anew what a refusal had cost, and read the models that the run goes on with.

        A plan that is to be made anew is forgotten, unless a person changes it just now.
        """
        before = self._steering.plan
        reopened = await run_bookkeeping(payloads.REOPEN_ACTIVITY, self._run_id, payloads.Reopened)
        if reopened.plan and self._steering.plan is before:
            self._steering.plan = None
        if reopened.models is not None:
            query = self._start.query.model_copy(update={"models": reopened.models})
            self._start = self._stages.start = self._start.model_copy(update={"query": query})

    async def _halt_run(self, halt: Halt, reason: str) -> None:
        """Park the run, unless the reader has meanwhile asked to go on."""
        self._halted = True
        if halt is Halt.APPROVAL:
            self._resumed = False  # a resume that came before the plan does not approve it
        if halt in WAITS and not self._resumed:
            await self._park_run(halt, reason)
        await workflow.wait_condition(workflow.all_handlers_finished)
        if self._wound_up:
            await self._write_control(Halt.NONE, replacing=Halt.PAUSE)
        if halt not in WAITS or self._cancelled:
            await self._settle_run(RunStatus.CANCELLED, "cancelled")
            return
        again = self._next_input(halt)
        if self._resumed or (halt is Halt.APPROVAL and not again.awaits_approval):
            workflow.continue_as_new(again, initial_versioning_behavior=UPGRADED)
        parked = payloads.ParkedRun(start=again, halt=halt)
        workflow.continue_as_new(parked, workflow=ParkedRunWorkflow.run, initial_versioning_behavior=UPGRADED)

    async def _park_run(self, halt: Halt, reason: str) -> None:
        """Say that the run waits, and why."""
        status, detail, options = WAITS[halt]
        by_itself = WaitReason(halt) if status is RunStatus.PAUSED and halt is not Halt.PAUSE else None
        told = f"{reason}: {detail}" if reason else detail
        await self._settle_run(status, told, options, by_itself)

    def _next_input(self, halt: Halt) -> ResearchInput:
        steered = {"plan": self._steering.plan, "dropped": self._steering.dropped}
        wished = {"finish": self._finish, "approved": self._approved, "reopens": halt in REFUSALS}
        return self._start.model_copy(update=steered | wished)

    async def _settle_run(
        self, status: RunStatus, detail: str, options: tuple[str, ...] = (), reason: WaitReason | None = None
    ) -> None:
        settlement = payloads.Settlement(run_id=self._run_id, status=status, detail=detail, options=options, reason=reason)
        await run_bookkeeping(payloads.SETTLE_ACTIVITY, settlement)

    async def _write_control(self, wish: Halt, replacing: Halt) -> None:
        await run_bookkeeping(
            payloads.CONTROL_ACTIVITY, payloads.ControlWish(run_id=self._run_id, wish=wish, replacing=replacing)
        )

    @workflow.signal(name=Command.PAUSE)
    def pause(self) -> None:
        """Keep further stages from beginning. Running stages read the pause from their ledger."""
        self._resumed = False
        self._stages.halt = Halt.PAUSE

    @workflow.signal(name=Command.RESUME)
    def resume(self) -> None:
        """Go on, even when the pause has not taken effect yet."""
        self._resumed, self._finish = True, False
        self._stages.halt = Halt.NONE

    @workflow.signal(name=Command.APPROVE)
    def approve(self) -> None:
        """Approve the plan."""
        self._approved = True

    @workflow.signal(name=Command.FINISH)
    async def finish(self) -> None:
        """Halt every stage, then go on to a report from the present findings."""
        self._resumed = self._finish = True
        if not self._halted:
            self._wound_up = True
            self._stages.halt = Halt.PAUSE
            await self._write_control(Halt.PAUSE, replacing=Halt.NONE)

    @workflow.signal(name=Command.CANCEL)
    def cancel(self) -> None:
        """End the run; calls in flight are aborted."""
        self._cancelled = True
        if self._system is not None:
            self._system.cancel()


@workflow.defn(name=PARKED_WORKFLOW, versioning_behavior=VersioningBehavior.AUTO_UPGRADE)
class ParkedRunWorkflow(PlanUpdates):
    """Waits for a person, for days if needed. Each of its few steps runs on the version that is current then."""

    @workflow.init
    def __init__(self, parked: payloads.ParkedRun) -> None:
        start = parked.start
        super().__init__(start.run_id, PlanSteering(start.plan, start.dropped))
        self._start = start
        self._wish: Command | None = None

    @workflow.run
    async def run(self, parked: payloads.ParkedRun) -> None:
        """Wait until the run goes on or is cancelled."""
        if self._wish is None:
            unheard = await self._find_unheard_command(parked.halt)
            self._wish = self._wish or unheard  # a command may have come meanwhile
        await workflow.wait_condition(lambda: self._wish is not None and workflow.all_handlers_finished())
        if self._wish is Command.CANCEL:
            cancelled = payloads.Settlement(run_id=self._run_id, status=RunStatus.CANCELLED, detail="cancelled")
            await run_bookkeeping(payloads.SETTLE_ACTIVITY, cancelled)
            return
        steered = {"plan": self._steering.plan, "dropped": self._steering.dropped, "finish": self._wish is Command.FINISH}
        approved = self._start.approved or self._wish is Command.APPROVE
        again = self._start.model_copy(update={**steered, "approved": approved})
        workflow.continue_as_new(again, workflow=ResearchWorkflow.run, initial_versioning_behavior=UPGRADED)

    async def _find_unheard_command(self, halt: Halt) -> Command | None:
        """Return a command that is only in the ledger: this workflow may replace another that was lost with its signals."""
        wish = await run_bookkeeping(payloads.WISH_ACTIVITY, self._run_id, payloads.Wish)
        if wish.control is not Halt.NONE:
            return Command.CANCEL if wish.control is Halt.CANCEL else None
        if wish.finish:
            return Command.FINISH
        if halt is Halt.APPROVAL:
            return Command.APPROVE if wish.approved else None
        return Command.RESUME if halt is Halt.PAUSE else None

    @workflow.signal(name=Command.PAUSE)
    def pause(self) -> None:
        """Do nothing, because the run waits already."""

    @workflow.signal(name=Command.RESUME)
    def resume(self) -> None:
        """Go on."""
        self._wish = self._wish or Command.RESUME

    @workflow.signal(name=Command.APPROVE)
    def approve(self) -> None:
        """Go on with the current plan."""
        self._wish = self._wish or Command.APPROVE

    @workflow.signal(name=Command.FINISH)
    def finish(self) -> None:
        """Go on to a report from the present findings."""
        self._wish = self._wish if self._wish is Command.CANCEL else Command.FINISH

    @workflow.signal(name=Command.CANCEL)
    def cancel(self) -> None:
        """End the run."""
        self._wish = Command.CANCEL
