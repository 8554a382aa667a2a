"""Quotas of the organisation that `database` acts for, and what is used of them.

The check before a run names the organisation, because the trusted role, which sees all of them, begins runs too.
"""

from collections.abc import Sequence
from datetime import date
from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.database.noun_columns import columns_of
from app.domain.limits import Consumption, KeyQuota, Quota, RunUsage, UsageLine

COLUMNS = columns_of(Quota)
ALL = f"SELECT subject, {COLUMNS} FROM quotas WHERE organisation_id = current_organisation()"
SET = f"""
    INSERT INTO quotas (subject, {COLUMNS}) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (organisation_id, subject) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in Quota.model_fields)}"""
IS_KEY = "SELECT true FROM api_keys WHERE id = $1 AND revoked_at IS NULL"
# One request at a time is let in, so that two do not both take the last place.
GATE = "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 7284451931))"
# A month pays for the runs that began in it with all that is billed to them, for what was asked of older reports, and for drafts.
# What was deleted since is paid for like the rest.
# A key pays for its own runs, and for what it asks of others'.
# What a canary asked for is the deployment's to pay.
NO_CANARY = "(r.made_for IS NULL OR r.query ->> 'canary' IS NULL)"
USED = f"""
    WITH month AS (SELECT date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' AS began),
    spent AS (
        SELECT l.input_tokens + l.output_tokens AS tokens, l.cost_microusd
        FROM runs r JOIN ledgers l ON l.run_id = r.id, month
        WHERE r.organisation_id = current_organisation() AND r.created_at >= month.began
          AND ($1::uuid IS NULL OR r.created_with = $1) AND {NO_CANARY}
        UNION ALL
        SELECT (t.usage ->> 'input_tokens')::bigint + (t.usage ->> 'output_tokens')::bigint, (t.usage ->> 'cost_microusd')::bigint
        FROM report_tasks t JOIN runs r ON r.id = t.run_id, month
        WHERE r.organisation_id = current_organisation() AND t.finished_at >= month.began
          AND ($1::uuid IS NULL OR t.created_with = $1)
          AND (r.created_at < month.began OR ($1::uuid IS NOT NULL AND r.created_with IS DISTINCT FROM $1))
        UNION ALL
        SELECT d.input_tokens + d.output_tokens, d.cost_microusd FROM drafts d, month
        WHERE d.organisation_id = current_organisation() AND d.created_at >= month.began
          AND ($1::uuid IS NULL OR d.created_with = $1)
        UNION ALL
        SELECT p.input_tokens + p.output_tokens, p.cost_microusd FROM past_spending p, month
        WHERE p.organisation_id = current_organisation()
          AND CASE WHEN p.asked_at IS NULL THEN p.run_began_at >= month.began AND ($1::uuid IS NULL OR p.run_began_with = $1)
              ELSE p.asked_at >= month.began AND ($1::uuid IS NULL OR p.asked_with = $1)
                   AND (p.run_began_at < month.began OR ($1::uuid IS NOT NULL AND p.run_began_with IS DISTINCT FROM $1)) END)
    SELECT (SELECT count(*) FROM runs r WHERE r.organisation_id = current_organisation() AND r.finished_at IS NULL
            AND ($1::uuid IS NULL OR r.created_with = $1) AND {NO_CANARY}) AS runs,
           coalesce(sum(tokens), 0)::bigint AS tokens, coalesce(sum(cost_microusd), 0)::bigint AS cost_microusd
    FROM spent"""
TIME = "r.created_at >= $1::date::timestamp AT TIME ZONE 'UTC' AND r.created_at < ($2::date + 1)::timestamp AT TIME ZONE 'UTC'"
DRAFTS = f"FROM drafts r WHERE {TIME}"
DELETED = f"FROM (SELECT p.*, p.run_began_at AS created_at FROM past_spending p WHERE p.asked_at IS NULL) AS r WHERE {TIME}"
LINES = f"""
    SELECT CASE e.type WHEN 'model_call' THEN 'model' ELSE 'tool' END AS kind,
           coalesce(e.payload ->> 'model', e.payload ->> 'tool', '') AS name, count(*) AS calls,
           coalesce(sum((e.payload ->> 'input_tokens')::bigint), 0)::bigint AS input_tokens,
           coalesce(sum((e.payload ->> 'output_tokens')::bigint), 0)::bigint AS output_tokens,
           coalesce(sum((e.payload ->> 'cost_microusd')::bigint), 0)::bigint AS cost_microusd
    FROM runs r JOIN events e ON e.run_id = r.id AND e.type IN ('model_call', 'tool_call')
    WHERE {TIME} AND {NO_CANARY} GROUP BY 1, 2
    UNION ALL
    SELECT 'draft', r.model, count(*), sum(r.input_tokens)::bigint, sum(r.output_tokens)::bigint, sum(r.cost_microusd)::bigint
    {DRAFTS} GROUP BY r.model
    UNION ALL
    SELECT 'deleted', '', count(*), sum(r.input_tokens)::bigint, sum(r.output_tokens)::bigint, sum(r.cost_microusd)::bigint
    {DELETED} HAVING count(*) > 0
    ORDER BY cost_microusd DESC, calls DESC, name"""
RUNS = f"""
    SELECT r.id AS run_id, left(r.query ->> 'question', 200) AS question, r.made_for, r.created_at, r.created_by, l.model_calls,
           l.tool_calls, l.input_tokens, l.output_tokens, l.cost_microusd
    FROM runs r JOIN ledgers l ON l.run_id = r.id WHERE {TIME} AND {NO_CANARY}
    ORDER BY l.cost_microusd DESC, l.input_tokens + l.output_tokens DESC, r.id LIMIT 100"""
TOTAL = f"""
    SELECT coalesce(sum(runs), 0)::bigint AS runs, coalesce(sum(tokens), 0)::bigint AS tokens,
           coalesce(sum(cost_microusd), 0)::bigint AS cost_microusd
    FROM (SELECT 1 AS runs, l.input_tokens + l.output_tokens AS tokens, l.cost_microusd
          FROM runs r JOIN ledgers l ON l.run_id = r.id WHERE {TIME} AND {NO_CANARY}
          UNION ALL SELECT 0, r.input_tokens + r.output_tokens, r.cost_microusd {DRAFTS}
          UNION ALL SELECT 1, r.input_tokens + r.output_tokens, r.cost_microusd {DELETED}) AS used"""


async def list_quotas(database: Executor) -> dict[UUID, Quota]:
    """Return the quotas by organisation or key."""
    async with translate_outages():
        return {row["subject"]: _quota_of(row) for row in await database.fetch(ALL)}


async def set_quota(database: Executor, subject: UUID, quota: Quota) -> None:
    """Replace the limits of the organisation or of a key."""
    async with translate_outages():
        await database.execute(SET, subject, *quota.model_dump().values())


async def is_key(database: Executor, key: UUID) -> bool:
    """Say whether the organisation has this key."""
    async with translate_outages():
        return bool(await database.fetchval(IS_KEY, key))


async def enter_gate(database: Executor, organisation: UUID) -> None:
    """Wait until no other request of the organisation is being let in, until the transaction ends."""
    async with translate_outages():
        await database.execute(GATE, str(organisation))


async def get_used(database: Executor, key: UUID | None = None) -> Consumption:
    """Return what the organisation, or one of its keys, has under way and has used this month."""
    async with translate_outages():
        row = await database.fetchrow(USED, key)
    assert row is not None
    return Consumption(**dict(row))


async def list_lines(database: Executor, since: date, until: date) -> Sequence[UsageLine]:
    """Return the usage by model and tool, out of the logs of the runs."""
    async with translate_outages():
        return [UsageLine(**dict(row)) for row in await database.fetch(LINES, since, until)]


async def list_dearest(database: Executor, since: date, until: date) -> Sequence[RunUsage]:
    """Return the usage by run, out of the ledgers."""
    async with translate_outages():
        return [RunUsage(**dict(row)) for row in await database.fetch(RUNS, since, until)]


async def get_total(database: Executor, since: date, until: date) -> Consumption:
    """Return all usage in these days."""
    async with translate_outages():
        row = await database.fetchrow(TOTAL, since, until)
    assert row is not None
    return Consumption(**dict(row))


def key_quotas_of(found: dict[UUID, Quota], organisation: UUID) -> tuple[KeyQuota, ...]:
    """Return the keys' part of `found`."""
    return tuple(KeyQuota(key_id=subject, quota=quota) for subject, quota in sorted(found.items()) if subject != organisation)


def _quota_of(row: Record) -> Quota:
    return Quota(**{name: row[name] for name in Quota.model_fields})
