"""A run's stored turns: all of them, or those of its tools."""

from collections.abc import Sequence
from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.domain.trajectory import Turn

# Of a turn that was superseded, the last revision. What a given-up call cost stands in turns of its own, which answer nothing.
LATEST = """
    SELECT body FROM (SELECT DISTINCT ON (stage, agent, ordinal) seq, body FROM turns
                      WHERE run_id = $1 AND step <> 'given_up'{of_kind}
                      ORDER BY stage, agent, ordinal, revision DESC) AS latest ORDER BY seq"""
TURNS, TOOL_TURNS = LATEST.format(of_kind=""), LATEST.format(of_kind=" AND kind = 'tool'")

HAS_SEARCH_ANSWERS = """
    SELECT EXISTS (SELECT FROM turns WHERE run_id = $1 AND kind = 'model' AND step <> 'given_up' AND stage LIKE 'search/%')"""


async def list_tool_turns(database: Executor, run_id: UUID) -> Sequence[Turn]:
    """Return the run's tool turns, in the order in which they were stored."""
    async with translate_outages():
        rows = await database.fetch(TOOL_TURNS, run_id)
    return [Turn.of_any_version(row["body"]) for row in rows]


async def list_turns(database: Executor, run_id: UUID) -> Sequence[Turn]:
    """Return all turns of the run, in the order in which they were stored."""
    async with translate_outages():
        rows = await database.fetch(TURNS, run_id)
    return [Turn.of_any_version(row["body"]) for row in rows]


async def has_search_answers(database: Executor, run_id: UUID) -> bool:
    """Return whether a model has answered any of the run's searches."""
    async with translate_outages():
        return bool(await database.fetchval(HAS_SEARCH_ANSWERS, run_id))
