"""The deletion of a run, and what may stand against it."""

from typing import NamedTuple
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.domain.run import RunStatus
from app.quotas.storage.past_spending import deletion_of

# Under its lock nothing more is asked of the run: what refers to it waits, and then finds it gone.
FOUND = """
    SELECT r.status, r.created_by, r.made_for,
           EXISTS (SELECT FROM report_tasks t WHERE t.run_id = r.id AND t.status = 'queued') AS changing,
           EXISTS (SELECT FROM runs m WHERE m.made_for = r.id AND m.finished_at IS NULL) AS comparing,
           EXISTS (SELECT FROM runs b WHERE b.query->>'evidence_of' = r.id::text AND b.finished_at IS NULL) AS shared,
           r.fleet_id IS NOT NULL AS in_fleet,
           (SELECT min(s.name) FROM schedules s WHERE s.deleted_at IS NULL AND (
                s.baseline_id = r.id OR EXISTS (SELECT FROM schedule_firings f WHERE f.schedule_id = s.id AND f.ended_at IS NULL
                                                AND r.id IN (f.run_id, f.baseline_id)))) AS schedule
    FROM runs r WHERE r.id = $1 FOR UPDATE OF r"""
DELETE = deletion_of("SELECT id FROM runs WHERE id = $1 FOR UPDATE")


class DeletableRun(NamedTuple):
    """A run, and what may need it: `schedule` is the name of one that compares with it, `made_for` the run it is a part of."""

    status: RunStatus
    created_by: UUID | None
    made_for: UUID | None
    changing: bool
    comparing: bool
    shared: bool
    in_fleet: bool
    schedule: str | None


async def find(connection: Executor, run_id: UUID) -> DeletableRun | None:
    """Return the run, locked until the transaction open on `connection` ends; None where there is none."""
    async with translate_outages():
        row = await connection.fetchrow(FOUND, run_id)
    return DeletableRun(*row)._replace(status=RunStatus(row["status"])) if row else None


async def delete(connection: Executor, run_id: UUID) -> None:
    """Delete the run with its report, log, links, comparisons and all else that belongs to it. What it used stays counted."""
    async with translate_outages():
        await connection.execute(DELETE, run_id)
