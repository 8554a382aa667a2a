"""Make and change questions that are asked again and again, and tell the workflow service."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import asyncpg

from app.accounts.storage import organisations as accounts
from app.collections.service.index_names import resolve_collections
from app.database.engine import Executor, forbid_repetition
from app.database.tenancy import TenantDatabase
from app.domain.deliveries import MailDelivery
from app.domain.errors import Conflict, InvalidInput, NotFound, RubricaError, Unavailable
from app.domain.query import ResearchQuery
from app.domain.revision import DELIVERED
from app.domain.schedules import MAX_SCHEDULES, Firing, Schedule, Timing
from app.reports.storage import versions
from app.runs.storage import runs
from app.schedules.service import cron
from app.schedules.service.gateway import ScheduleGateway
from app.schedules.storage import deliveries, schedules
from app.schedules.storage.schedules import UnsyncedSchedule

SYNC_EVERY = timedelta(seconds=5)
BATCH = 100
log = logging.getLogger(__name__)


class Schedules:
    """The use cases around schedules. The database holds them; `wake` lets the workflow service learn of changes.

    Without `sends_mail` there is no mail server, and nobody can be told.

    Raises:
        NotFound: no such schedule.
        Unavailable: the database does not answer.
    """

    def __init__(self, database: TenantDatabase, gateway: ScheduleGateway, wake: Callable[[], None], *, sends_mail: bool) -> None:
        self._database = database
        self._gateway = gateway
        self._wake = wake
        self._sends_mail = sends_mail

    async def list_page(self, limit: int, before: UUID | None) -> Sequence[Schedule]:
        """Return up to `limit` schedules, newest first, older than `before`."""
        return [_add_next_due(found) for found in await schedules.list_page(self._database, limit, before)]

    async def get(self, schedule: UUID) -> Schedule:
        """Return one schedule."""
        found = await schedules.get(self._database, schedule)
        if found is None:
            raise NotFound(f"there is no schedule {schedule}")
        return _add_next_due(found)

    async def create(
        self, name: str, query: ResearchQuery, timing: Timing, deliver_to: Sequence[str], run: UUID | None
    ) -> Schedule:
        """Make a schedule. With `run`, it takes that run's question, and the first asking compares with that run's report.

        Raises:
            InvalidInput: the timing, a recipient or a collection cannot be used.
            Conflict: the run has no report yet, or there are too many schedules.
        """
        if run is not None:
            query = (await self._get_question_of(run)).without_writing()
        asked, _ = await resolve_collections(self._database, query)
        made = Schedule(
            id=uuid4(),
            name=name,
            query=asked.model_copy(
                update={"approve_plan": False, "rubric": False, "refreshes": None, "evidence_of": None}
            ),  # nobody waits to approve
            timing=cron.check_timing(timing, datetime.now(UTC)),
            deliver_to=await self._check_members(deliver_to),
            baseline_id=run,
            created_at=datetime.now(UTC),
        )
        if not await schedules.create(self._database, made, MAX_SCHEDULES):
            raise Conflict(f"there are {MAX_SCHEDULES} schedules already; delete one first")
        self._wake()
        with forbid_repetition(f"schedule {made.id} is stored"):
            return await self.get(made.id)

    async def change(
        self,
        schedule: UUID,
        name: str | None = None,
        timing: Timing | None = None,
        deliver_to: Sequence[str] | None = None,
        paused: bool | None = None,
    ) -> Schedule:
        """Change the fields given; `InvalidInput` as for a new one."""
        was = await self.get(schedule)
        update = {
            "name": was.name if name is None else name,
            "timing": was.timing if timing is None else cron.check_timing(timing, datetime.now(UTC)),
            "deliver_to": was.deliver_to if deliver_to is None else await self._check_members(deliver_to),
            "paused": was.paused if paused is None else paused,
        }
        await schedules.change(self._database, was.model_copy(update=update))
        self._wake()
        return await self.get(schedule)

    async def trigger(self, schedule: UUID) -> None:
        """Ask now, besides the due times; an asking under way counts as this one. `Unavailable` without the workflow service."""
        was = await self.get(schedule)
        await self._gateway.put(schedule, was.timing, was.paused)
        await self._gateway.trigger(schedule)

    async def delete(self, schedule: UUID) -> None:
        """Delete a schedule with the log of its askings. The runs it made stay."""
        if not await schedules.delete(self._database, schedule):
            raise NotFound(f"there is no schedule {schedule}")
        self._wake()

    async def list_changes(self, schedule: UUID, limit: int, before: datetime | None) -> Sequence[Firing]:
        """Return up to `limit` askings with the changes each found, latest first."""
        await self.get(schedule)
        return await schedules.list_firings(self._database, schedule, limit, before)

    async def list_deliveries(self, schedule: UUID, limit: int, before: UUID | None) -> Sequence[MailDelivery]:
        """Return up to `limit` messages about a schedule with the outcome of their sending, latest first, older than `before`."""
        await self.get(schedule)
        return await deliveries.list_page(self._database, schedule, limit, before)

    async def _get_question_of(self, run: UUID) -> ResearchQuery:
        found = await runs.get(self._database, run)
        if found is None:
            raise InvalidInput(f"there is no run {run}")
        if await versions.get(self._database, run, DELIVERED) is None:
            raise Conflict(f"run {run} has no report to compare with; its status is {found.status}")
        return found.query

    async def _check_members(self, addresses: Sequence[str]) -> tuple[str, ...]:
        """Check that all addresses are members': mail to any address would let people send anything to anybody."""
        wanted = tuple(dict.fromkeys(address.strip().lower() for address in addresses))
        if wanted and not self._sends_mail:
            raise InvalidInput("nobody can be told: no mail server is set up (RUBRICA_SMTP_HOST); leave `deliver_to` empty")
        known = await accounts.find_member_addresses(self._database, wanted)
        if strangers := [address for address in wanted if address not in known]:
            raise InvalidInput(
                f"{strangers[0][:200]!r} is no confirmed address of a member of your organisation; mail goes to those only"
            )
        return wanted


class ScheduleSync:
    """A worker that tells the workflow service what the database has, until it knows. `trusted` sees all organisations."""

    def __init__(self, trusted: asyncpg.Pool, gateway: ScheduleGateway) -> None:
        self._trusted = trusted
        self._gateway = gateway
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Look for changes now."""
        self._woken.set()

    async def keep_syncing(self) -> None:
        """Tell the workflow service of changes, until cancelled."""
        while True:
            self._woken.clear()
            try:
                await self.sync()
            except RubricaError as error:
                log.warning("schedules wait: %s", error)
            try:
                await asyncio.wait_for(self._woken.wait(), SYNC_EVERY.total_seconds())
            except TimeoutError:
                continue

    async def sync(self) -> int:
        """Tell of each schedule that changed; return how many these were. One that cannot be told of holds up no other."""
        waiting, failures = await schedules.list_unsynced(self._trusted, BATCH), list[Unavailable]()
        for schedule in waiting:
            try:
                await self._tell_of(schedule)
            except Unavailable as error:
                failures.append(error)
        if failures:
            log.warning("%d of %d schedules wait: %s", len(failures), len(waiting), failures[0])
        return len(waiting) - len(failures)

    async def _tell_of(self, schedule: UnsyncedSchedule) -> None:
        if schedule.deleted:
            await self._gateway.remove(schedule.id)
            await schedules.drop(self._trusted, schedule.id)
            return
        try:
            await self._gateway.put(schedule.id, schedule.timing, schedule.paused)
        except InvalidInput as error:
            log.warning("schedule %s is paused: %s", schedule.id, error)
            await self._gateway.remove(schedule.id)  # an older timing must not go on
            await schedules.refuse(self._trusted, schedule.id, schedule.revision, str(error))
        else:
            await schedules.mark_synced(self._trusted, schedule.id, schedule.revision)


class Subscriptions:
    """The wishes of readers about messages. Only the token in a message's link says who follows it."""

    def __init__(self, trusted: Executor) -> None:
        self._trusted = trusted

    async def get_schedule_name(self, token: UUID) -> str:
        """Return the name of the schedule that the message was about; `NotFound` for an unknown token."""
        name = await deliveries.get_schedule_name(self._trusted, token)
        if name is None:
            raise NotFound("this link is not, or no longer, valid")
        return name

    async def end(self, token: UUID) -> None:
        """Stop messages about that schedule to that address. `NotFound` for an unknown token."""
        await self.get_schedule_name(token)
        await deliveries.unsubscribe(self._trusted, token)


def _add_next_due(schedule: Schedule) -> Schedule:
    due = None if schedule.paused else cron.find_next_due(schedule.timing, datetime.now(UTC))
    return schedule.model_copy(update={"next_at": due})
