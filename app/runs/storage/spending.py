"""What a run's model calls used, step by step, out of its log."""

from collections.abc import Sequence
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.runs.nouns import StepUsage

BY_STEP = """
    SELECT coalesce(payload ->> 'step', '') AS step, count(*) AS model_calls,
           coalesce(sum((payload ->> 'input_tokens')::bigint), 0)::bigint AS input_tokens,
           coalesce(sum((payload ->> 'output_tokens')::bigint), 0)::bigint AS output_tokens,
           coalesce(sum((payload ->> 'cost_microusd')::bigint), 0)::bigint AS cost_microusd
    FROM events WHERE run_id = $1 AND type = 'model_call' GROUP BY 1"""


async def list_by_step(database: Executor, run_id: UUID) -> Sequence[StepUsage]:
    """Return what each step used, in no order."""
    async with translate_outages():
        return [StepUsage(*row) for row in await database.fetch(BY_STEP, run_id)]
