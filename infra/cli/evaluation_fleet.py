"""Find the deployment whose workers run the questions of `rubrica eval`, and steer its fleets.

It is the one that the settings name, or the stack that runs on this home.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

from app.database.tenancy import Tenant, TenantDatabase, act_for
from app.domain.errors import NotFound, SetupError
from app.domain.fleets import Fleet, FleetWish
from app.fleets.service import Fleets
from app.runs.service.temporal_gateway import TemporalGateway
from app.settings import Settings
from infra.cli.worker_database import open_worker_pool
from infra.local.home import Home
from infra.local.lock import FileLock, read_state
from training.evaluation.harness.fleet import Deployment
from training.evaluation.harness.folder import RunFolder


@asynccontextmanager
async def open_deployment(settings: Settings, organisation: UUID) -> AsyncIterator[Deployment]:
    """Open the deployment for one organisation, for as long as the context lasts.

    Raises:
        SetupError: no stack runs, or its database cannot be used.
    """
    home = Home(settings.home)
    address = find_temporal(settings)
    if address is None:
        raise SetupError("a fleet is worked by a stack, and none is up here; start one with `rubrica up`")
    async with open_worker_pool(settings, home) as pool:
        database = TenantDatabase(pool)
        with act_for(Tenant(organisation)):
            yield Deployment(Fleets(database, TemporalGateway(address)), database)


async def show_fleet(settings: Settings, folder: Path, organisation: UUID, wish: FleetWish | None) -> int:
    """Print how far the fleet of a run is; with a wish, set that first."""
    fleet_id = RunFolder(folder).read_fleet()
    if fleet_id is None:
        raise NotFound(f"no fleet works for {folder}; `rubrica eval run --fleet` makes one")
    async with open_deployment(settings, organisation) as found:
        print(describe_fleet(await (found.fleets.set_wish(fleet_id, wish) if wish else found.fleets.get(fleet_id))))
    return 0


def describe_fleet(fleet: Fleet) -> str:
    """Return the state of a fleet in one line."""
    state = {FleetWish.GO: "at work", FleetWish.PAUSE: "paused", FleetWish.CANCEL: "being cancelled"}[fleet.wish]
    if fleet.ended_at is not None:
        state = "cancelled" if fleet.wish is FleetWish.CANCEL else "complete"
    ended = f"{fleet.ended} of {fleet.questions} questions have ended"
    return f"{state}: {ended}, {fleet.under_way} under way" + (f"; {fleet.detail}" if fleet.detail else "")


def find_temporal(settings: Settings) -> str | None:
    """Return the address of the deployment's workflow service: as set, or of the stack that runs on this home."""
    home = Home(settings.home)
    if settings.temporal_address is not None:
        return settings.temporal_address
    if not home.lock.exists() or not FileLock(home.lock).is_held_by_another():
        return None
    state = read_state(home.state)
    return state.temporal if state else None
