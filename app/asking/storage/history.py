"""The consumption of finished runs, for estimates."""

from collections.abc import Sequence
from typing import NamedTuple

from app.database.engine import Executor, translate_outages
from app.domain.query import ResearchQuery

MOST = 200
# A run's model is that of its first call; a run without any call had none.
LIKE = """
    SELECT l.input_tokens + l.output_tokens AS tokens, l.cost_microusd, l.active_seconds AS seconds
    FROM runs r JOIN ledgers l ON l.run_id = r.id
    WHERE r.status = 'completed' AND r.made_for IS NULL AND r.fleet_id IS NULL
      AND r.query->>'effort' = $1 AND r.query->>'system' = $2
      AND coalesce((r.query->>'rubric')::boolean, false) = $3 AND NOT r.finish
      AND coalesce((SELECT e.payload->>'model' FROM events e WHERE e.run_id = r.id AND e.type = 'model_call'
                    ORDER BY e.seq LIMIT 1), '') = $4
    ORDER BY r.created_at DESC LIMIT $5"""


class RunConsumption(NamedTuple):
    """What one run used: tokens, millionths of a US dollar, seconds of work."""

    tokens: int
    cost_microusd: int
    seconds: float


async def find_alike(database: Executor, query: ResearchQuery, model: str) -> Sequence[RunConsumption]:
    """Return the newest finished runs of the same effort, system and model, held to a rubric or not as this one."""
    async with translate_outages():
        rows = await database.fetch(LIKE, query.effort, query.system, query.rubric, model, MOST)
    return [RunConsumption(*row) for row in rows]
