"""The plans whose cycles start at set times: when the next one starts, and what it lacks."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import asyncpg

from app.domain.errors import InvalidInput
from app.models.service.cycle_gateway import CycleGateway, PlanTimes
from app.models.service.plan_files import list_stored_plans, read_plan, stored_plan
from app.models.service.plan_needs import PlanNeed, estimate_needs
from app.models.storage import cycles


class ScheduledPlan(NamedTuple):
    """A plan with its times, the cycle of it that is under way, and what its next one needs. `fault`: why it cannot be read."""

    name: str
    times: PlanTimes
    under_way: UUID | None
    needs: Sequence[PlanNeed]
    fault: str


class ScheduledPlans:
    """The plans that are scheduled in a deployment, as far as its folder of cycles can be seen from here.

    Raises:
        Unavailable: the database or the workflow service does not answer.
    """

    def __init__(self, database: asyncpg.Pool, folder: Path, gateway: CycleGateway) -> None:
        self._database = database
        self._folder = folder
        self._gateway = gateway

    async def list_all(self) -> list[ScheduledPlan]:
        """List the plans by their names."""
        names = await asyncio.to_thread(list_stored_plans, self._folder)
        under_way = {cycle.plan.name: cycle.id for cycle in await cycles.list_under_way(self._database)} if names else {}
        found = [(name, await self._gateway.find_times(name)) for name in names]
        return [await self._describe(name, times, under_way.get(name)) for name, times in found if times]

    async def _describe(self, name: str, times: PlanTimes, under_way: UUID | None) -> ScheduledPlan:
        try:
            plan = await asyncio.to_thread(read_plan, stored_plan(self._folder, name))
        except InvalidInput as fault:
            return ScheduledPlan(name, times, under_way, (), str(fault))
        return ScheduledPlan(name, times, under_way, await estimate_needs(self._database, plan, datetime.now(UTC)), "")
