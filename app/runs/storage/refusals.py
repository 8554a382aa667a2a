"""Opening anew what a pause's reason cost: the stages of a run that ended without what the model's server refused."""

from uuid import UUID

from app.database.engine import Executor, translate_outages
from app.runs.storage import stored_turns

LOCK = "SELECT FROM ledgers WHERE run_id = $1 FOR NO KEY UPDATE"
# The run's log tells which stages these are: a stage's last end says what it was refused, the last pause by itself says why.
REOPEN = """
    WITH pause AS (SELECT seq, payload->>'reason' AS reason FROM events WHERE run_id = $1 AND type = 'status_changed'
                   AND payload->>'reason' IS NOT NULL ORDER BY seq DESC LIMIT 1),
         ends AS (SELECT DISTINCT ON (agent) agent AS stage, seq, payload FROM events
                  WHERE run_id = $1 AND type = 'stage_finished' ORDER BY agent, seq DESC),
         cost AS (SELECT stage FROM ends, pause WHERE ends.seq < pause.seq AND ends.payload->'refused' IS NOT NULL
                  AND (ends.payload->'refused')::jsonb ? pause.reason)
    UPDATE stages s SET done = false, result = NULL, closed_at = NULL FROM cost
    WHERE s.run_id = $1 AND s.stage = cost.stage AND s.done AND NOT s.dropped RETURNING s.stage"""
# A plan that a person changed or approved is theirs; the planner's has the revision 1. Read as text, as where a plan is saved.
FORGET_PLAN = """
    UPDATE runs SET plan = NULL WHERE id = $1 AND NOT approved AND cardinality(dropped) = 0
        AND substring(plan::text FROM '"revision": ?([0-9]+)') = '1' RETURNING true"""
FORGET_RUBRIC = "DELETE FROM run_rubrics WHERE run_id = $1 AND edited_at IS NULL AND rubric->>'origin' = 'general'"
PLAN = "plan"


async def reopen_refused(connection: Executor, run_id: UUID) -> bool:
    """Open anew each stage that ended before the run's last pause without what was refused for the reason of that pause.

    What such a stage had been answered stays stored, and nothing is opened anew twice. Return whether the plan is to be made
    anew too: nothing was answered over it, and no person has taken it for theirs. `connection` has a transaction open.
    """
    async with translate_outages():
        await connection.execute(LOCK, run_id)
        stages = [row["stage"] for row in await connection.fetch(REOPEN, run_id)]
        if PLAN not in stages or await stored_turns.has_search_answers(connection, run_id):
            return False
        await connection.execute(FORGET_RUBRIC, run_id)
        return bool(await connection.fetchval(FORGET_PLAN, run_id))
