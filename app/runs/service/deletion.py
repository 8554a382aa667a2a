"""Delete a run that has ended, for good."""

from uuid import UUID

from app.accounts.nouns.access import Principal, Role
from app.audit import storage as audit
from app.audit.storage import Action
from app.database.tenancy import TenantDatabase
from app.domain.errors import Conflict, Forbidden, NotFound
from app.runs.storage import deletion as run_deletion
from app.runs.storage.deletion import DeletableRun


class RunDeletion:
    """The use case of deleting a run. The next sweep removes stored copies of sources that no other run cites."""

    def __init__(self, tenants: TenantDatabase) -> None:
        self._tenants = tenants

    async def delete(self, principal: Principal, run_id: UUID) -> None:
        """Delete a run with its report, versions, links, comparisons, judgements and log.

        Raises:
            NotFound: no such run.
            Forbidden: another person asked it, and the caller is no owner or admin.
            Conflict: the run is under way, or something that is under way needs it.
            Unavailable: the database does not answer.
        """
        async with self._tenants.acquire() as connection:
            found = await run_deletion.find(connection, run_id)
            if found is None:
                raise NotFound(f"there is no run {run_id}")
            if principal.role not in (Role.OWNER, Role.ADMIN) and found.created_by != principal.user_id:
                raise Forbidden("only the person who asked this question, an owner or an admin may delete it")
            if reason := find_obstacle(found):
                raise Conflict(reason)
            await run_deletion.delete(connection, run_id)
            await audit.record(connection, Action.RUN_DELETED, run_id)


def find_obstacle(run: DeletableRun) -> str:
    """Return the reason why the run cannot be deleted now, with what to do; empty where it can be deleted."""
    if not run.status.finished:
        return f"the run is {run.status}: cancel it first, or wait for its end"
    if run.made_for is not None:
        return f"this is the second report of a comparison: delete the run {run.made_for}, and it goes with it"
    if run.changing:
        return "its report is being changed, judged, or asked about: wait for that"
    if run.comparing:
        return "a second report over its evidence is being written: wait for that"
    if run.shared:
        return "another system still works on its evidence: wait for that, or cancel it"
    if run.in_fleet:
        return "it is one of a fleet of an evaluation, and is kept with it for as long as runs are kept (`PUT /v1/retention`)"
    if run.schedule is not None:
        return f"the schedule {run.schedule!r} compares with it: delete the schedule first, or wait until it was asked again"
    return ""
