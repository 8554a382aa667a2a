"""Which served model a run has in each role, as it is created."""

from uuid import UUID

from asyncpg import Record

from app.database.engine import Executor, translate_outages
from app.domain.model_versions import falls_to_canary
from app.domain.served_models import SETTINGS_MODEL, ModelRole, RoleModels

# One statement, since each run costs it. A candidate that is gone serves nobody, and nobody keeps a model that is gone.
RESOLVE = """
    SELECT a.role, CASE WHEN a.of_settings THEN '' ELSE a.served END AS served, c.id AS canary, c.served AS candidate, c.share,
           coalesce($1::uuid, current_organisation()) AS organisation, h.name AS held
    FROM model_aliases a
        LEFT JOIN (canaries c JOIN served_models s ON s.name = c.served AND s.gone_at IS NULL)
            ON a.role = ANY (c.role || c.also) AND c.state = 'running'
        LEFT JOIN served_models h ON h.name = $2::json->>a.role AND h.gone_at IS NULL"""


async def resolve_roles(database: Executor, held: RoleModels = SETTINGS_MODEL, organisation: UUID | None = None) -> RoleModels:
    """Return the models of an organisation's new run: in each role the running canary's, where it is drawn, else the alias'.

    Those that are `held` and not gone stay. A role that only the settings have held has no name: whatever model they name works
    in it. Without an `organisation` it is the one that `database` acts for.
    """
    async with translate_outages():
        rows = await database.fetch(RESOLVE, organisation, held.model_dump_json())
    return RoleModels(**{row["role"]: row["held"] or _choose_model(row) for row in rows})


async def replace_gone(database: Executor, models: RoleModels, organisation: UUID | None = None) -> RoleModels:
    """Return a run's models, of which those that are gone give way to what a new run would have in their roles."""
    if models == SETTINGS_MODEL:
        return models
    now = await resolve_roles(database, models, organisation)
    return RoleModels(**{role.value: now.of(role) for role in ModelRole if models.of(role)})


def _choose_model(row: Record) -> str:
    drawn = row["canary"] and row["organisation"] and falls_to_canary(row["canary"], row["organisation"], row["share"])
    return str(row["candidate"] if drawn else row["served"])
