"""Timings in a real Temporal server."""

from datetime import timedelta
from uuid import uuid4

import pytest
from temporalio.client import ScheduleOverlapPolicy
from temporalio.service import RPCError

from app.domain.errors import InvalidInput, Unavailable
from app.domain.schedules import Overlap, Timing, schedule_workflow_id
from app.runs.service.temporal_gateway import connect
from app.schedules.service.temporal_gateway import TemporalSchedules


async def test_a_schedule_is_held_as_the_database_has_it(temporal_address: str) -> None:
    schedules, schedule = TemporalSchedules(temporal_address), uuid4()
    handle = (await connect(temporal_address)).get_schedule_handle(schedule_workflow_id(schedule))
    weekly = Timing(cron="0 8 * * mon", time_zone="Europe/Berlin", jitter_s=90)
    await schedules.put(schedule, weekly, paused=False)
    await schedules.put(schedule, weekly, paused=False)  # twice is once
    held = (await handle.describe()).schedule
    assert held.spec.time_zone_name == "Europe/Berlin"
    assert held.spec.jitter == timedelta(seconds=90)
    assert held.policy.overlap is ScheduleOverlapPolicy.SKIP
    assert held.policy.catchup_window == timedelta(days=7)
    assert not held.state.paused
    upcoming = (await handle.describe()).info.next_action_times
    assert all(due.weekday() == 0 and due.minute < 2 for due in upcoming)  # up to 90 seconds late

    await schedules.put(schedule, weekly.model_copy(update={"cron": "30 6 1 * *", "overlap": Overlap.WAIT}), paused=True)
    changed = await handle.describe()
    assert (changed.schedule.state.paused, changed.schedule.policy.overlap) == (True, ScheduleOverlapPolicy.BUFFER_ONE)
    await schedules.remove(schedule)
    await schedules.remove(schedule)
    with pytest.raises(RPCError):
        await handle.describe()
    with pytest.raises(InvalidInput, match="DayOfMonth is not in range"):
        await schedules.put(schedule, weekly.model_copy(update={"cron": "0 8 L * *"}), paused=False)
    with pytest.raises(Unavailable):
        await TemporalSchedules("127.0.0.1:9").put(schedule, weekly, paused=False)
