"""One asking of a schedule: check whether anything changed, research the changes, compare the reports, deliver the result."""

import asyncio
from datetime import datetime, timedelta
from typing import TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeKey, VersioningBehavior
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from app.domain.contract import ResearchInput
    from app.domain.schedules import LIVING_WORKFLOW, Firings
    from workflows.durable import failures, living_payloads, policies
    from workflows.durable.child_run import begin_run
    from workflows.durable.plan_updates import run_bookkeeping

R = TypeVar("R")
DUE = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
# A service outside may be away when sources are looked up again.
LOOKING_LIMIT = timedelta(hours=1)
LOOKING_RETRIES = RetryPolicy(initial_interval=timedelta(seconds=5), maximum_interval=timedelta(minutes=10), maximum_attempts=8)
DELIVERING_LIMIT = timedelta(minutes=2)
DELIVERING_RETRIES = RetryPolicy(initial_interval=timedelta(seconds=20), maximum_interval=timedelta(hours=1), maximum_attempts=16)
FIRST_LOOK = timedelta(seconds=1)
LONGEST_LOOK = timedelta(minutes=5)


@workflow.defn(name=LIVING_WORKFLOW, versioning_behavior=VersioningBehavior.AUTO_UPGRADE)
class LivingReportWorkflow:
    """Every step is kept in PostgreSQL under the schedule and the time it was due, so that each can be repeated."""

    @workflow.run
    async def run(self, firings: Firings) -> None:
        """Run until the asking has ended and its messages are delivered or given up."""
        asking = living_payloads.ScheduleAsking(schedule_id=firings.schedule_id, due_at=_due_time())
        try:
            found = await _look(living_payloads.BEGIN_ACTIVITY, asking, living_payloads.BegunAsking)
            if found.start is not None:
                await self._research(found.start, firings)
            told = await _look(living_payloads.TELL_ACTIVITY, asking, living_payloads.DeliveryList)
        except ActivityError as error:
            failed = living_payloads.FailedAsking(asking=asking, detail=failures.reason_in(error))
            told = await run_bookkeeping(living_payloads.FAIL_ACTIVITY, failed, living_payloads.DeliveryList)
        await asyncio.gather(*(_deliver(delivery) for delivery in told.deliveries))

    async def _research(self, start: ResearchInput, firings: Firings) -> None:
        """Start the run and check now and then whether it has ended. It lives by itself and may wait for a person for days."""
        await begin_run(start)
        pause = FIRST_LOOK
        while not await run_bookkeeping(living_payloads.ENDED_ACTIVITY, start.run_id, bool):
            await workflow.sleep(pause)
            pause = min(pause * 1.5, LONGEST_LOOK)
            if workflow.info().is_continue_as_new_suggested():
                workflow.continue_as_new(firings)


def _due_time() -> datetime:
    """Return the time for which the schedule planned this asking; for one started by hand, its start."""
    return workflow.info().typed_search_attributes.get(DUE) or workflow.info().start_time


async def _look(activity: str, asking: living_payloads.ScheduleAsking, returns: type[R]) -> R:
    result: R = await workflow.execute_activity(
        activity,
        asking,
        result_type=returns,
        start_to_close_timeout=LOOKING_LIMIT,
        heartbeat_timeout=policies.HEARTBEAT_LIMIT,
        retry_policy=LOOKING_RETRIES,
    )
    return result


async def _deliver(delivery: living_payloads.MessageDelivery) -> None:
    """Deliver a message. A failed delivery is in the delivery log and does not fail the asking."""
    try:
        await workflow.execute_activity(
            living_payloads.DELIVER_ACTIVITY,
            delivery,
            start_to_close_timeout=DELIVERING_LIMIT,
            retry_policy=DELIVERING_RETRIES,
        )
    except ActivityError as error:
        workflow.logger.warning("the delivery %s was given up: %s", delivery.id, error)
