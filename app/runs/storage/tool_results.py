"""The results of a run's tool calls, each under the key of its tool and arguments: the same call is not made twice."""

from uuid import UUID

from app.database.engine import Executor, translate_outages

RECALL = "SELECT result FROM tool_calls WHERE run_id = $1 AND key = $2"
TOOL_KEYS = "SELECT key FROM tool_calls WHERE run_id = $1"
# Its commit does not wait for the disk: that of the turn in which the result is stored does, for both.
REMEMBER = """
    WITH mine AS (INSERT INTO tool_calls (run_id, key, result)
                  SELECT id, $2, $3 FROM runs, (SELECT set_config('synchronous_commit', 'off', true)) AS unhurried WHERE id = $1
                  ON CONFLICT DO NOTHING RETURNING true)
    SELECT NULL::bytea AS other FROM mine UNION ALL SELECT result FROM tool_calls WHERE run_id = $1 AND key = $2 LIMIT 1"""


async def recall(database: Executor, run_id: UUID, key: str) -> bytes | None:
    """Return what this run's earlier call under `key` brought back."""
    async with translate_outages():
        result: bytes | None = await database.fetchval(RECALL, run_id, key)
    return result


async def list_keys(database: Executor, run_id: UUID) -> set[str]:
    """Return the keys of all of this run's calls so far."""
    async with translate_outages():
        return {row["key"] for row in await database.fetch(TOOL_KEYS, run_id)}


async def remember(database: Executor, run_id: UUID, key: str, result: bytes) -> bytes:
    """Keep a call's result; the one that is kept, which is another's when that was first.

    A server that dies in the next moment may forget it, until something that waits is stored. Within a transaction, that one does
    not wait for the disk either.
    """
    async with translate_outages():
        kept = await database.fetchrow(REMEMBER, run_id, key, result)
    if kept is not None:
        return kept["other"] or result
    # Another's row can be committed after our statement began: then it is there, and only a new statement sees it.
    return await recall(database, run_id, key) or result
