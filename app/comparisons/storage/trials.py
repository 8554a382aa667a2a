"""Second reports that a canary asks for: which runs may have one, what they cost, and what of a run is made anew for a role."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.domain.model_versions import Canary
from app.domain.served_models import ModelRole

# Organisation and asker agreed before they asked. What nobody reads, what takes over an earlier report and what another system
# is compared with are left out; so is a report in which the role's model has no part.
COMPARABLE = """
    SELECT r.id, r.created_by FROM runs r
        JOIN organisation_consents o ON o.organisation_id = r.organisation_id AND o.since <= r.created_at
        JOIN person_consents p ON p.organisation_id = r.organisation_id AND p.user_id = r.created_by AND p.since <= r.created_at
    WHERE r.created_at >= $1 AND r.status = 'completed' AND r.made_for IS NULL AND r.fleet_id IS NULL AND NOT r.finish
      AND r.plan IS NOT NULL AND r.query ->> 'refreshes' IS NULL AND r.query ->> 'evidence_of' IS NULL
      AND r.query -> 'writer' ->> 'agents' IS DISTINCT FROM 'brief'
      AND ('writer' <> ALL ($2::text[]) OR r.query -> 'writer' ->> 'model' IS NULL)
      AND ('rubric' <> ALL ($2::text[])
           OR EXISTS (SELECT FROM run_rubrics u WHERE u.run_id = r.id AND u.rubric ->> 'origin' <> 'reader'))
      AND NOT EXISTS (SELECT FROM comparisons c WHERE c.run_id = r.id)
    ORDER BY r.created_at, r.id"""
IS_COMPARED = "SELECT EXISTS (SELECT FROM comparisons WHERE run_id = $1)"
# The running canary's row is held, so that no second attempt of its step asks for the same.
LOCK = """
    SELECT a.role, CASE WHEN a.of_settings THEN '' ELSE a.served END AS stable
    FROM canaries c JOIN model_aliases a ON a.role = ANY (c.role || c.also)
    WHERE c.id = $1 AND c.state = 'running' FOR UPDATE OF c"""
SPENT = """
    SELECT coalesce(sum(l.cost_microusd), 0) FROM runs r JOIN ledgers l ON l.run_id = r.id
    WHERE r.created_at >= $2 AND r.made_for IS NOT NULL AND r.query ->> 'canary' = $1::uuid::text"""
FORGET_PLAN = "UPDATE runs SET plan = NULL, dropped = '{}' WHERE id = $1"
FORGET_SEARCHES = "DELETE FROM stages WHERE run_id = $1"
FORGET_RUBRIC = "DELETE FROM run_rubrics WHERE run_id = $1"
FORGOTTEN = {
    ModelRole.PLANNER: (FORGET_PLAN, FORGET_SEARCHES),
    ModelRole.SEARCHER: (FORGET_SEARCHES,),
    ModelRole.RUBRIC: (FORGET_RUBRIC,),
}
MICRO = 1_000_000


class ComparableRun(NamedTuple):
    """A finished run whose asker agreed to comparisons."""

    id: UUID
    asker: UUID


async def list_comparable(trusted: Executor, canary: Canary) -> Sequence[ComparableRun]:
    """List the runs since a canary began whose reports may have a second one and have none, the oldest first."""
    async with translate_outages():
        rows = await trusted.fetch(COMPARABLE, canary.started_at, list(canary.roles))
    return [ComparableRun(row["id"], row["created_by"]) for row in rows]


async def hold_canary(connection: Executor, canary: UUID) -> Mapping[ModelRole, str]:
    """Hold a running canary until the transaction ends; return the stable model of each of its roles: of none if it has ended."""
    async with translate_outages():
        return {ModelRole(row["role"]): row["stable"] for row in await connection.fetch(LOCK, canary)}


async def is_compared(connection: Executor, run: UUID) -> bool:
    """Say whether a run's report has a comparison."""
    async with translate_outages():
        return bool(await connection.fetchval(IS_COMPARED, run))


async def forget_for(connection: Executor, run: UUID, roles: Sequence[ModelRole]) -> None:
    """Take from a run that was made for a comparison what the model of these roles is to make anew."""
    async with translate_outages():
        for statement in (each for role in roles for each in FORGOTTEN.get(role, ())):
            await connection.execute(statement, run)


async def get_spent_usd(trusted: Executor, canary: Canary) -> float:
    """Return what the second reports of a canary have cost so far, in US dollars."""
    async with translate_outages():
        return float(await trusted.fetchval(SPENT, canary.id, canary.started_at)) / MICRO
