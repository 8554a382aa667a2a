"""The linear concurrent pipeline as a fleet (QSR appendix F): a window of runs over a data set, for as long as it takes.

PostgreSQL knows which questions wait, are under way and have ended; one activity moves them on and says what to start. So the
workflow has no state: it continues in a new history when the old one is long, and can be started anew at any time.
"""

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from temporalio import workflow
from temporalio.common import VersioningBehavior
from temporalio.exceptions import FailureError

with workflow.unsafe.imports_passed_through():
    from app.domain.contract import Command, ResearchInput, workflow_id
    from app.domain.fleets import FLEET_WORKFLOW, WAKE, FleetInput
    from workflows.durable import fleet_payloads, policies
    from workflows.durable.child_run import begin_run

# The workflow of a waiting fleet ends after this long, and is started anew when it has something to do.
IDLE_LIMIT = timedelta(minutes=10)


@workflow.defn(name=FLEET_WORKFLOW, versioning_behavior=VersioningBehavior.AUTO_UPGRADE)
class FleetWorkflow:
    """Starts the fleet's runs, each a workflow that lives by itself, and passes commands on to them."""

    @workflow.init
    def __init__(self, fleet: FleetInput) -> None:
        self._fleet = fleet
        self._woken = False
        self._told: dict[UUID, None] = {}

    @workflow.run
    async def run(self, fleet: FleetInput) -> None:
        """Run until the fleet has ended, or has waited for too long."""
        started: tuple[UUID, ...] = ()
        while True:
            self._woken = False
            step = await self._advance(started)
            started = tuple([await _start_run(start) for start in step.starts])
            await self._pass_on(Command.FINISH, step.finish)
            await self._pass_on(Command.CANCEL, step.cancel)
            if step.state is fleet_payloads.FleetState.OVER or (
                step.state is fleet_payloads.FleetState.IDLE and await self._is_left_alone()
            ):
                return
            if workflow.info().get_current_history_length() >= fleet.history:
                workflow.continue_as_new(fleet)

    @workflow.signal(name=WAKE)
    def wake(self) -> None:
        """Wake the workflow: questions were added, or a command has come."""
        self._woken = True

    async def _advance(self, started: tuple[UUID, ...]) -> fleet_payloads.FleetStep:
        request = fleet_payloads.FleetAdvance(fleet_id=self._fleet.fleet_id, started=started, told=tuple(self._told))
        step: fleet_payloads.FleetStep = await workflow.execute_activity(
            fleet_payloads.ADVANCE_ACTIVITY,
            request,
            result_type=fleet_payloads.FleetStep,
            start_to_close_timeout=policies.STAGE_LIMIT,
            heartbeat_timeout=policies.HEARTBEAT_LIMIT,
            retry_policy=policies.STAGE_RETRIES,
        )
        return step

    async def _is_left_alone(self) -> bool:
        try:
            await workflow.wait_condition(lambda: self._woken, timeout=IDLE_LIMIT)
        except TimeoutError:
            return True
        return False

    async def _pass_on(self, command: Command, runs: Iterable[UUID]) -> None:
        """Signal a command to runs. It is in each run's ledger already, where a workflow that replaces a lost one reads it."""
        for run in runs:
            self._told[run] = None
            try:
                await workflow.get_external_workflow_handle(workflow_id(run)).signal(command)
            except FailureError as error:
                workflow.logger.info("run %s heard no %s: %s", run, command, error)


async def _start_run(start: ResearchInput) -> UUID:
    await begin_run(start)
    return start.run_id
