"""What is seen of a canary: the runs of both arms since it began, and readers' votes between their reports."""

from datetime import datetime
from typing import NamedTuple

from app.database.engine import Executor, translate_outages
from app.domain.model_versions import Canary
from app.statistics.arm_comparison import Arm
from app.statistics.canary import ServedRun, Vote

# Runs that ended, by which arm's model they were created with: a run that names none has the settings' own. A second report
# over the same evidence is no run of its own. A run fails too where it waits because its model refuses every request, and where
# quotations stand in the place of a report that the model was to write.
RUNS = """
    SELECT r.created_at AS at, coalesce(r.query -> 'models' ->> $2 = $3, false) AS canary,
           r.status <> 'completed' OR (r.query -> 'writer' ->> 'agents' IS DISTINCT FROM 'brief' AND NOT r.finish
                                       AND w.result -> 'lineage' ->> 'agents' = 'brief') AS failed,
           g.active_seconds AS seconds, g.cost_microusd AS cost
    FROM runs r JOIN ledgers g ON g.run_id = r.id
        LEFT JOIN LATERAL (SELECT convert_from(s.result, 'UTF8')::json AS result FROM stages s
                           WHERE s.run_id = r.id AND s.stage = 'report' AND s.done) w ON true
    WHERE r.created_at >= $1 AND r.created_at < coalesce($4::timestamptz, 'infinity') AND r.made_for IS NULL
      AND (r.status IN ('completed', 'failed')
           OR r.status = 'paused' AND (SELECT e.payload ->> 'reason' FROM events e WHERE e.run_id = r.id
                                       AND e.type = 'status_changed' ORDER BY e.seq DESC LIMIT 1) = 'model_refused')
    ORDER BY r.created_at, r.id"""
# Choices between a report of the candidate and one of another model, by the models that in fact worked on them.
VOTES = """
    SELECT c.made_at AS at, c.outcome, d.lineage -> 'models' ->> $3 = $2 AS delivered_by_canary
    FROM choices c
        JOIN comparisons p ON p.id = c.comparison_id
        JOIN candidates d ON d.comparison_id = p.id AND d.place = 'delivered'
        JOIN candidates a ON a.comparison_id = p.id AND a.place = 'alternative'
    WHERE c.made_at >= $1 AND c.made_at < coalesce($4::timestamptz, 'infinity')
      AND ((d.lineage -> 'models' ->> $3 = $2) <> (a.lineage -> 'models' ->> $3 = $2))
    ORDER BY c.made_at, c.comparison_id, c.user_id"""
LEAST_SECONDS, MICRO = 1e-3, 1_000_000
LEAST_USD = 1e-6
"""What costs nothing on both arms has a ratio of one."""
PLACES = {"delivered": True, "alternative": False}


class TimedObservation(NamedTuple):
    """A run or a vote, and when it came."""

    at: datetime
    seen: ServedRun | Vote


async def list_observations(database: Executor, canary: Canary) -> list[ServedRun | Vote]:
    """List the runs and votes of both arms while the canary ran, in the order in which they came."""
    return [each.seen for each in await list_timed(database, canary)]


async def list_timed(database: Executor, canary: Canary) -> list[TimedObservation]:
    """List the same with their moments: when a run began, or a vote was made."""
    async with translate_outages():
        runs = await database.fetch(RUNS, canary.started_at, canary.role, canary.served, canary.ended_at)
        votes = await database.fetch(VOTES, canary.started_at, canary.served, canary.role, canary.ended_at)
    seen = [
        TimedObservation(
            row["at"],
            ServedRun(
                Arm.CANARY if row["canary"] else Arm.STABLE,
                row["failed"],
                max(float(row["seconds"]), LEAST_SECONDS),
                max(row["cost"] / MICRO, LEAST_USD),
            ),
        )
        for row in runs
    ]
    seen += [TimedObservation(row["at"], _vote_of(row["outcome"], row["delivered_by_canary"])) for row in votes]
    return sorted(seen, key=lambda each: each.at)


def _vote_of(outcome: str, delivered_by_canary: bool) -> Vote:
    """Return a vote for the arm whose report was preferred; none of them for a tie, or two bad reports."""
    if outcome not in PLACES:
        return Vote(None)
    return Vote(Arm.CANARY if PLACES[outcome] == delivered_by_canary else Arm.STABLE)
