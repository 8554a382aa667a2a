"""Schedules and their askings. Every function is one statement.

A schedule's `revision` grows with each change; the workflow service has been told of it once `synced` has caught up.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.database.noun_columns import columns_of
from app.domain.changes import ReportChanges
from app.domain.query import ResearchQuery
from app.domain.schedules import Firing, Outcome, Overlap, Schedule, Timing

SCHEDULE = """
    SELECT id, name, query, cron, time_zone, jitter_s, overlap, deliver_to, paused, detail, baseline_id, created_by, created_at
    FROM schedules WHERE deleted_at IS NULL """
PAGE = (
    SCHEDULE
    + """AND ($2::uuid IS NULL OR (created_at, id) < (SELECT b.created_at, b.id FROM schedules b WHERE b.id = $2))
    ORDER BY created_at DESC, id DESC LIMIT $1"""
)
GET = SCHEDULE + "AND id = $1"
CREATE = """
    INSERT INTO schedules (id, name, query, cron, time_zone, jitter_s, overlap, deliver_to, baseline_id)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 WHERE (SELECT count(*) FROM schedules WHERE deleted_at IS NULL) < $10"""
CHANGE = """
    UPDATE schedules SET name = $2, cron = $3, time_zone = $4, jitter_s = $5, overlap = $6, deliver_to = $7, paused = $8,
                         detail = '', revision = revision + 1
    WHERE id = $1 AND deleted_at IS NULL"""
DELETE = "UPDATE schedules SET deleted_at = now(), revision = revision + 1 WHERE id = $1 AND deleted_at IS NULL"
UNSYNCED = """
    SELECT id, cron, time_zone, jitter_s, overlap, paused, deleted_at IS NOT NULL AS deleted, revision FROM schedules
    WHERE synced < revision ORDER BY id LIMIT $1"""
SYNCED = "UPDATE schedules SET synced = $2 WHERE id = $1 AND synced < $2"
# What was changed meanwhile is told of again.
REFUSE = "UPDATE schedules SET paused = true, detail = $3, synced = $2 WHERE id = $1 AND revision = $2 AND deleted_at IS NULL"
GONE = "DELETE FROM schedules WHERE id = $1 AND deleted_at IS NOT NULL"
SET_BASELINE = "UPDATE schedules SET baseline_id = $2 WHERE id = $1"
PAUSE = "UPDATE schedules SET paused = true, detail = $2, revision = revision + 1 WHERE id = $1 AND deleted_at IS NULL"
FIRING = f"SELECT {columns_of(Firing)} FROM schedule_firings "
# Once its run is deleted nobody knows any more what it read: then what the schedule searches decides.
FIRINGS = f"""
    SELECT {columns_of(Firing)}, may_read_evidence(run_id) AND may_read_evidence(baseline_id)
        AND (run_id IS NOT NULL OR NOT EXISTS (SELECT FROM schedules s WHERE s.id = schedule_id AND s.query ->> 'tenant' <> ''))
        AS readable
    FROM schedule_firings
    WHERE schedule_id = $1 AND ($3::timestamptz IS NULL OR due_at < $3) ORDER BY due_at DESC LIMIT $2"""
GET_FIRING = FIRING + "WHERE schedule_id = $1 AND due_at = $2"
BEGIN = """
    INSERT INTO schedule_firings (schedule_id, organisation_id, due_at, outcome, baseline_id)
    SELECT id, organisation_id, $2, 'running', baseline_id FROM schedules WHERE id = $1 AND deleted_at IS NULL
    ON CONFLICT DO NOTHING"""
NOTE_RUN = "UPDATE schedule_firings SET run_id = $3, repeated_calls = $4, detail = '' WHERE schedule_id = $1 AND due_at = $2"
NOTE_WAITING = "UPDATE schedule_firings SET detail = $3 WHERE schedule_id = $1 AND due_at = $2 AND outcome = 'running'"
END = """
    UPDATE schedule_firings SET outcome = $3, detail = $4, changes = $5, repeated_calls = greatest(repeated_calls, $6),
                                ended_at = now()
    WHERE schedule_id = $1 AND due_at = $2 AND outcome = 'running'"""
LATER = "SELECT EXISTS (SELECT FROM schedule_firings WHERE schedule_id = $1 AND due_at > $2)"


class UnsyncedSchedule(NamedTuple):
    """A schedule of which the workflow service knows an older state, or nothing."""

    id: UUID
    timing: Timing
    paused: bool
    deleted: bool
    revision: int


async def create(database: Executor, schedule: Schedule, most: int) -> bool:
    """Add a schedule; False when there are `most` already."""
    told = (schedule.id, schedule.name, schedule.query.model_dump_json(), *_timing_fields_of(schedule.timing))
    async with translate_outages():
        done = await database.execute(CREATE, *told, list(schedule.deliver_to), schedule.baseline_id, most)
    return str(done).endswith("1")


async def list_page(database: Executor, limit: int, before: UUID | None) -> Sequence[Schedule]:
    """List up to `limit` schedules, newest first, older than the schedule `before`."""
    async with translate_outages():
        return [_schedule_of(row) for row in await database.fetch(PAGE, limit, before)]


async def get(database: Executor, schedule: UUID) -> Schedule | None:
    """Return the schedule, or None."""
    async with translate_outages():
        row = await database.fetchrow(GET, schedule)
    return _schedule_of(row) if row else None


async def change(database: Executor, schedule: Schedule) -> None:
    """Keep a schedule's name, timing, recipients and pause."""
    told = (schedule.id, schedule.name, *_timing_fields_of(schedule.timing), list(schedule.deliver_to), schedule.paused)
    async with translate_outages():
        await database.execute(CHANGE, *told)


async def pause(database: Executor, schedule: UUID, detail: str) -> None:
    """Pause a schedule and say why."""
    async with translate_outages():
        await database.execute(PAUSE, schedule, detail)


async def delete(database: Executor, schedule: UUID) -> bool:
    """Mark a schedule as going; False when there is none."""
    async with translate_outages():
        return str(await database.execute(DELETE, schedule)).endswith("1")


async def list_unsynced(trusted: Executor, limit: int) -> Sequence[UnsyncedSchedule]:
    """List the schedules that the workflow service does not know yet as they are now."""
    async with translate_outages():
        rows = await trusted.fetch(UNSYNCED, limit)
    return [UnsyncedSchedule(row["id"], _timing_of(row), row["paused"], row["deleted"], row["revision"]) for row in rows]


async def mark_synced(trusted: Executor, schedule: UUID, revision: int) -> None:
    """Note that the workflow service knows this revision."""
    async with translate_outages():
        await trusted.execute(SYNCED, schedule, revision)


async def refuse(trusted: Executor, schedule: UUID, revision: int, detail: str) -> None:
    """Pause a schedule whose timing the workflow service refuses in this revision, and say why; it is not told again."""
    async with translate_outages():
        await trusted.execute(REFUSE, schedule, revision, detail)


async def drop(trusted: Executor, schedule: UUID) -> None:
    """Forget a schedule that the workflow service has forgotten."""
    async with translate_outages():
        await trusted.execute(GONE, schedule)


async def set_baseline(trusted: Executor, schedule: UUID, run: UUID) -> None:
    """Compare with this run's report from now on."""
    async with translate_outages():
        await trusted.execute(SET_BASELINE, schedule, run)


async def list_firings(database: Executor, schedule: UUID, limit: int, before: datetime | None) -> Sequence[Firing]:
    """List up to `limit` askings of a schedule that were due before a time, latest first.

    Who may not read what an asking's run gathered learns which claims changed, without words of sources.
    """
    async with translate_outages():
        rows = await database.fetch(FIRINGS, schedule, limit, before)
    return [_firing_of(row) if row["readable"] else _withhold_sources(_firing_of(row)) for row in rows]


async def begin(trusted: Executor, schedule: UUID, due_at: datetime) -> Firing | None:
    """Return the asking that was due then, begun now or before; None when the schedule is gone."""
    async with translate_outages():
        await trusted.execute(BEGIN, schedule, due_at)
        row = await trusted.fetchrow(GET_FIRING, schedule, due_at)
    return _firing_of(row) if row else None


async def note_run(trusted: Executor, firing: Firing, run: UUID, repeated_calls: int) -> None:
    """Keep which run an asking needed."""
    async with translate_outages():
        await trusted.execute(NOTE_RUN, firing.schedule_id, firing.due_at, run, repeated_calls)


async def note_waiting(trusted: Executor, firing: Firing, detail: str) -> None:
    """Say what an asking under way waits for."""
    async with translate_outages():
        await trusted.execute(NOTE_WAITING, firing.schedule_id, firing.due_at, detail)


async def end(
    trusted: Executor, firing: Firing, outcome: Outcome, detail: str = "", changes: ReportChanges | None = None, calls: int = 0
) -> None:
    """Keep how an asking ended; the first ending stays."""
    told = (changes or ReportChanges()).model_dump_json(exclude_defaults=True)
    async with translate_outages():
        await trusted.execute(END, firing.schedule_id, firing.due_at, outcome, detail, told, calls)


async def is_overtaken(trusted: Executor, firing: Firing) -> bool:
    """Say whether an asking that was due later has begun already."""
    async with translate_outages():
        return bool(await trusted.fetchval(LATER, firing.schedule_id, firing.due_at))


def _timing_fields_of(timing: Timing) -> tuple[str, str, int, str]:
    return timing.cron, timing.time_zone, timing.jitter_s, timing.overlap.value


def _timing_of(row: Record) -> Timing:
    return Timing(cron=row["cron"], time_zone=row["time_zone"], jitter_s=row["jitter_s"], overlap=Overlap(row["overlap"]))


def _schedule_of(row: Record) -> Schedule:
    return Schedule(
        id=row["id"],
        name=row["name"],
        query=ResearchQuery.of_any_version(row["query"]),
        timing=_timing_of(row),
        deliver_to=tuple(row["deliver_to"]),
        paused=row["paused"],
        detail=row["detail"],
        baseline_id=row["baseline_id"],
        created_by=row["created_by"],
        created_at=row["created_at"],
    )


def _firing_of(row: Record) -> Firing:
    changes = ReportChanges.of_any_version(row["changes"]) if row["changes"] else ReportChanges()
    return Firing(**({name: row[name] for name in Firing.model_fields} | {"changes": changes}))


def _withhold_sources(firing: Firing) -> Firing:
    return firing.model_copy(update={"changes": firing.changes.without_sources()})
