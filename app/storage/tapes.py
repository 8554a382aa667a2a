"""What a run's tools brought, out of its stored turns."""

from collections.abc import Sequence
from uuid import UUID

from app.domain.trajectory import Turn
from app.storage.engine import Executor, translated

# Of a turn that was superseded, the last revision.
TOOL_TURNS = """
    SELECT body FROM (SELECT DISTINCT ON (stage, agent, ordinal) seq, body FROM turns WHERE run_id = $1 AND kind = 'tool'
                      ORDER BY stage, agent, ordinal, revision DESC) AS latest ORDER BY seq"""


async def tool_turns(database: Executor, run_id: UUID) -> Sequence[Turn]:
    """The run's tool turns, in the order in which they were stored."""
    async with translated():
        rows = await database.fetch(TOOL_TURNS, run_id)
    return [Turn.model_validate_json(row["body"]) for row in rows]
