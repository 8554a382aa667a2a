"""The data that organisations let be deleted after a time.

The settings are read and set as the organisation; sweeping is for the trusted connection, which sees all of them.
"""

from collections.abc import Mapping
from types import MappingProxyType

from app.database.engine import Executor, translate_outages
from app.database.noun_columns import columns_of
from app.quotas.storage.past_spending import deletion_of
from app.retention.nouns import Retention

COLUMNS = columns_of(Retention)
GET = f"SELECT {COLUMNS} FROM retentions WHERE organisation_id = $1"
SET = f"""
    INSERT INTO retentions (organisation_id, {COLUMNS}) VALUES (current_organisation(), $1, $2, $3, $4)
    ON CONFLICT (organisation_id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in Retention.model_fields)}"""
# What is past its time is deleted by a look of yesterday (`settled_now`), so that a clock that is set forward costs nothing for a
# day. Looks from the future were made before the clock was set back.
LOOK = """
    WITH gone AS (DELETE FROM clock_looks WHERE at > now() OR at < (SELECT settled_now()))
    INSERT INTO clock_looks (at) VALUES (now()) ON CONFLICT DO NOTHING"""
# Runs that ended so long ago. What a schedule compares with stays, and so does a run for which one that is kept was made.
ENDED = """
    FROM runs r JOIN retentions k ON k.organisation_id = r.organisation_id
    WHERE r.finished_at < (SELECT settled_now()) - make_interval(days => k.{days})
      AND NOT EXISTS (SELECT FROM schedules s WHERE s.baseline_id = r.id AND s.deleted_at IS NULL)"""
RUNS = deletion_of(f"SELECT r.id {ENDED.format(days='runs_days')} ORDER BY r.finished_at LIMIT $1 FOR UPDATE OF r SKIP LOCKED")
# Before a run's rows of a kind are asked for, so that runs which have none any more cost a look at an index.
HAVING = """
    DELETE FROM {table} WHERE run_id IN (SELECT r.id {ended} AND EXISTS (SELECT FROM {table} t WHERE t.run_id = r.id)
                                         ORDER BY r.finished_at LIMIT $1)"""
SAID = """
    DELETE FROM {table} t USING retentions k
    WHERE k.organisation_id = t.organisation_id AND t.{since} < (SELECT settled_now()) - make_interval(days => k.feedback_days)"""
# A choice counts from when it was made, or changed last, and not from the look before it.
VIEWINGS = f"""{SAID.format(table="viewings", since="first_viewed_at")}
      AND NOT EXISTS (SELECT FROM choices c WHERE c.comparison_id = t.comparison_id AND c.user_id = t.user_id
                      AND c.changed_at >= (SELECT settled_now()) - make_interval(days => k.feedback_days))"""
# Their words go; what they used stays with its month, as of runs (ADR 0035).
DRAFTS = """
    UPDATE drafts d SET question = '', body = '{}' FROM retentions k
    WHERE k.organisation_id = d.organisation_id AND d.created_at < (SELECT settled_now()) - make_interval(days => k.runs_days)
      AND d.question <> ''"""
# What a schedule found goes with the report that said it.
ROUNDS = """
    DELETE FROM schedule_firings f USING retentions k
    WHERE k.organisation_id = f.organisation_id AND f.ended_at < (SELECT settled_now()) - make_interval(days => k.runs_days)"""
# It quotes both reports that were compared; whoever deleted one of them meant these words too.
CHANGES = """
    UPDATE schedule_firings SET changes = NULL
    WHERE outcome = 'changed' AND changes IS NOT NULL AND (run_id IS NULL OR baseline_id IS NULL)"""
FLEETS = """
    DELETE FROM fleets f USING retentions k
    WHERE k.organisation_id = f.organisation_id AND f.ended_at < (SELECT settled_now()) - make_interval(days => k.runs_days)"""
# A copy that no run cites any more, and none has asked for since yesterday. With the lock its age is read again: a worker that is
# about to cite it may have asked meanwhile.
SNAPSHOTS = """
    WITH past AS (
        SELECT hash FROM snapshots s WHERE s.first_seen < (SELECT settled_now())
          AND NOT EXISTS (SELECT FROM run_sources c WHERE c.hash = s.hash) LIMIT $1 FOR UPDATE OF s SKIP LOCKED)
    DELETE FROM snapshots WHERE hash IN (SELECT hash FROM past)"""
# What was counted for organisations that are gone, and what nobody asks about any more.
COUNTS = """
    DELETE FROM outside_counts c WHERE c.day < (SELECT settled_now())::date - 366
       OR (c.organisation_id <> '00000000-0000-0000-0000-000000000000'
           AND NOT EXISTS (SELECT FROM organisations o WHERE o.id = c.organisation_id))"""
# An organisation whose last member was erased, once its documents and schedules are gone everywhere.
NAMELESS = """
    DELETE FROM organisations o
    WHERE o.name = '' AND NOT EXISTS (SELECT FROM memberships m WHERE m.organisation_id = o.id)
      AND NOT EXISTS (SELECT FROM collections c WHERE c.organisation_id = o.id)
      AND NOT EXISTS (SELECT FROM schedules s WHERE s.organisation_id = o.id)"""
STATEMENTS: Mapping[str, str] = MappingProxyType(
    {
        "runs": RUNS,
        "events": HAVING.format(table="events", ended=ENDED.format(days="events_days")),
        "tool_calls": HAVING.format(table="tool_calls", ended=ENDED.format(days="tool_results_days")),
        "turns": HAVING.format(table="turns", ended=ENDED.format(days="tool_results_days")),
        "viewings": VIEWINGS,  # their choices go with them
        "ratings": SAID.format(table="ratings", since="made_at"),
        "claim_flags": SAID.format(table="claim_flags", since="made_at"),
        "drafts": DRAFTS,
        "schedule_firings": ROUNDS,
        "changes": CHANGES,
        "fleets": FLEETS,  # their questions go with them
        "snapshots": SNAPSHOTS,
        "organisations": NAMELESS,
        "outside_counts": COUNTS,
    }
)
BATCHED = frozenset({"runs", "events", "tool_calls", "turns", "snapshots"})


async def get(database: Executor, organisation: object) -> Retention:
    """Return the organisation's settings; by default everything is kept."""
    async with translate_outages():
        row = await database.fetchrow(GET, organisation)
    return Retention(**dict(row)) if row else Retention()


async def set_(database: Executor, retention: Retention) -> None:
    """Replace the settings of the organisation that `database` acts for."""
    async with translate_outages():
        await database.execute(SET, *retention.model_dump().values())


async def look_at_clock(trusted: Executor) -> None:
    """Keep the present moment: in a day, what is past its time by it may be deleted."""
    async with translate_outages():
        await trusted.execute(LOOK)


async def forget(trusted: Executor, what: str, batch: int) -> int:
    """Delete some of what is past its time, of every organisation; how many rows. `what` is a key of `STATEMENTS`.

    Of what can be much, the rows of `batch` runs (or as many snapshots) go at once: ask again until there are none.
    """
    bounds = (batch,) if what in BATCHED else ()
    async with translate_outages():
        done = await trusted.execute(STATEMENTS[what], *bounds)
    return int(done.rpartition(" ")[2])
