"""What is seen of a canary, over a real database: runs of both arms, and how a trial ends."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import asyncpg
import orjson
import pytest

from app.domain.model_versions import Canary, CanaryState
from app.domain.retraining import CanaryPlan
from app.domain.served_models import ModelRole, RoleModels
from app.domain.writer import ReportLineage
from app.models.service.canary_course import count_by_day, follow_canary
from app.models.storage.canary_observations import TimedObservation, list_observations
from app.statistics.arm_comparison import Arm
from app.statistics.canary import Action, CanaryDecision, ServedRun, Vote
from tests.app.annotators import make_finished_run, make_report
from workflows.durable.retraining.own_steps.canary import choose_ending

NOW = datetime.now(UTC)
NAME_MODELS = "UPDATE runs SET query = jsonb_set(query::jsonb, '{models}', $2::jsonb)::json WHERE id = $1"
PLAN = CanaryPlan(longest=timedelta(days=1), least_runs=5)


def make_canary(started: datetime = NOW - timedelta(hours=1), role: ModelRole = ModelRole.WRITER) -> Canary:
    return Canary(id=uuid4(), version=uuid4(), role=role, served="writer-v2-0a", share=0.5, started_at=started)


async def make_run(pool: asyncpg.Pool, writer: str) -> UUID:
    run = await make_finished_run(pool, make_report("Duties protect labour."), ReportLineage(model=writer))
    await pool.execute(NAME_MODELS, run, orjson.dumps(RoleModels(writer=writer).model_dump()).decode())
    return run


async def test_runs_of_both_arms_come_in_their_order(pool: asyncpg.Pool) -> None:
    began = datetime.now(UTC)
    for writer in ("writer-v2-0a", "writer-v1-0b", "", "writer-v2-0a"):
        await make_run(pool, writer)
    failed = await make_run(pool, "writer-v2-0a")
    await pool.execute("UPDATE runs SET status = 'failed' WHERE id = $1", failed)
    seen = await list_observations(pool, make_canary(began))
    arms = [run.arm for run in seen if isinstance(run, ServedRun)]
    assert arms == [Arm.CANARY, Arm.STABLE, Arm.STABLE, Arm.CANARY, Arm.CANARY]
    assert [run.failed for run in seen if isinstance(run, ServedRun)] == [False] * 4 + [True]


async def test_runs_of_before_the_trial_count_nowhere(pool: asyncpg.Pool) -> None:
    await make_run(pool, "writer-v2-0a")
    assert await list_observations(pool, make_canary(datetime.now(UTC))) == []


async def test_a_run_has_failed_too_whose_model_refuses_or_whose_report_is_quotations(pool: asyncpg.Pool) -> None:
    began = datetime.now(UTC)
    await make_finished_run(pool, make_report("Duties."), ReportLineage(agents="brief"))
    refused, asked_for, finished = [await make_run(pool, "writer-v2-0a") for _ in range(3)]
    lineage = orjson.dumps({"lineage": {"agents": "brief"}})
    for run in (asked_for, finished):
        await pool.execute("UPDATE stages SET result = $2 WHERE run_id = $1 AND stage = 'report'", run, lineage)
    await pool.execute(
        """UPDATE runs SET query = jsonb_set(query::jsonb, '{writer,agents}', '"brief"')::json WHERE id = $1""", asked_for
    )
    await pool.execute("UPDATE runs SET finish = true WHERE id = $1", finished)
    await pool.execute("UPDATE runs SET status = 'paused', finished_at = NULL WHERE id = $1", refused)
    told = orjson.dumps({"status": "paused", "reason": "model_refused"}).decode()
    await pool.fetchval("SELECT append_event($1, 'status_changed', '', $2)", refused, told)
    seen = [run for run in await list_observations(pool, make_canary(began)) if isinstance(run, ServedRun)]
    stable, canary = Arm.STABLE, Arm.CANARY
    assert [(run.arm, run.failed) for run in seen] == [(stable, True), (canary, True), (canary, False), (canary, False)]


@pytest.mark.parametrize(
    ("action", "hours", "runs", "ends"),
    [
        (Action.ROLL_BACK, 0, 3, CanaryState.ROLLED_BACK),
        (Action.PROMOTE, 0, 3, CanaryState.PROMOTED),
        (Action.HOLD_ON, 1, 50, None),
        (Action.HOLD_ON, 25, 50, CanaryState.PROMOTED),
        (Action.HOLD_ON, 25, 4, CanaryState.ROLLED_BACK),
    ],
)
def test_a_trial_ends_by_what_is_shown_or_with_its_time(action: Action, hours: int, runs: int, ends: CanaryState | None) -> None:
    decision = CanaryDecision(action, "so", runs)
    found = choose_ending(decision, runs, NOW, make_canary(NOW - timedelta(hours=hours)), PLAN)
    assert (found and found[0]) == ends


async def test_the_course_of_a_canary_ends_with_it(pool: asyncpg.Pool) -> None:
    canary = make_canary(datetime.now(UTC))
    for writer in ("writer-v2-0a", "writer-v1-0b", "writer-v2-0a"):
        last = await make_run(pool, writer)
    await pool.execute("UPDATE runs SET status = 'failed' WHERE id = $1", last)
    ended = canary.model_copy(update={"ended_at": datetime.now(UTC)})
    await make_run(pool, "writer-v2-0a")
    traffic = [(await follow_canary(pool, each)).traffic[Arm.CANARY] for each in (canary, ended)]
    assert traffic == [(3, 1), (2, 1)]
    assert (await follow_canary(pool, ended)).traffic[Arm.STABLE] == (1, 0)


def test_votes_add_up_day_by_day_with_their_interval() -> None:
    votes = [(0, Arm.CANARY), (0, None), (0, Arm.CANARY), (1, None), (2, Arm.STABLE), (2, Arm.CANARY)]
    seen = [TimedObservation(NOW + timedelta(days=day), Vote(winner)) for day, winner in votes]
    first, last = count_by_day(seen)
    assert (first.day, first.votes, first.won, first.rate) == (NOW.date(), 2, 2, 1.0)
    assert (last.day, last.votes, last.won) == ((NOW + timedelta(days=2)).date(), 4, 3)
    assert 0 < last.low < last.rate == 0.75 < last.high <= 1
