"""The second reports of a canary: a share of runs is written again by the other arm's model, for a blind choice."""

from collections.abc import Mapping
from functools import partial

import asyncpg

from app.comparisons.service.second_reports import plan_second_report
from app.comparisons.storage import comparisons, trials
from app.comparisons.storage.trials import ComparableRun
from app.database.engine import translate_outages
from app.domain.errors import NotFound
from app.domain.model_versions import Canary, falls_to_comparison
from app.domain.query import ResearchQuery
from app.domain.served_models import ModelRole
from app.runs.storage.run_log import RunLog
from app.schedules.storage.living_runs import Owner, act_for
from workflows.durable.persistence import persist

SEARCH_ANEW = frozenset({ModelRole.PLANNER, ModelRole.SEARCHER})
"""The roles whose model decides what is found: their second report comes from a whole run."""


async def ask_second_reports(database: asyncpg.Pool, canary: Canary, share: float, most_usd: float) -> None:
    """Have the drawn runs compared that ended since the last look, until these reports have cost so much.

    Each is stored with its comparison in one transaction; whoever starts runs that were left behind starts it.
    """
    if not share:
        return
    for run in await persist(lambda: trials.list_comparable(database, canary)):
        if falls_to_comparison(canary.id, run.id, share):
            spent = await persist(lambda: trials.get_spent_usd(database, canary))
            if spent and spent >= most_usd:  # what costs nothing needs no money
                return
            await persist(partial(_ask, database, canary, run))


async def _ask(database: asyncpg.Pool, canary: Canary, run: ComparableRun) -> None:
    async with translate_outages(), database.acquire() as connection, connection.transaction():
        stable = await trials.hold_canary(connection, canary.id)
        if not stable or await trials.is_compared(connection, run.id):
            return
        try:
            start = await RunLog(connection).load(run.id)
        except NotFound:  # its reader deleted it just now
            return
        assert start.organisation_id is not None
        stored = await comparisons.list_searches(connection, run.id)
        new, lost = plan_second_report(start, _swap_model(start.query, canary, stable), stored, None)
        if SEARCH_ANEW.intersection(canary.roles):
            new = new._replace(evidence_digest="")
        await act_for(connection, Owner(start.organisation_id, run.asker))
        await comparisons.create(connection, new, lost)
        await trials.forget_for(connection, new.made_run_id, canary.roles)


def _swap_model(query: ResearchQuery, canary: Canary, stable: Mapping[ModelRole, str]) -> ResearchQuery:
    """Return the query with the other arm's models in the canary's roles, and nothing else changed."""
    was_candidate = query.models.of(canary.role) == canary.served
    others = {role.value: stable[role] if was_candidate else canary.served for role in canary.roles}
    models = query.models.model_copy(update=others)
    return query.model_copy(update={"models": models, "canary": canary.id})
