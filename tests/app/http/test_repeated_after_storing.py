"""The database goes away after something was stored, and before it is shown: the same request does not make it twice."""

from collections.abc import AsyncIterator
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg
import pytest

from app.domain.writer import ReportLineage
from app.http.services import open_services
from tests.app.annotators import make_finished_run, make_report
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api
from tests.support.lossy_proxy import LossyProxy

RUN, LINEAGE = "the-run", ReportLineage(system="minddr", agents="brief", build="first-build")
WEEKLY = {"cron": "0 8 * * mon", "time_zone": "Europe/Berlin"}


class Making(NamedTuple):
    """A request that makes something, the statement whose answer is lost, and the table of what is made."""

    path: str
    asked: dict[str, Any]
    lost: str
    table: str


MAKINGS = {
    "question": Making(f"/v1/runs/{RUN}/questions", {"question": "How high?"}, "WHERE run_id = $1 AND id = $2", "report_tasks"),
    "second report": Making(
        "/v1/comparisons",
        {"run_id": RUN, "writer": {"agents": "brief", "arrangement": "time"}},
        "FROM comparisons c JOIN runs",
        "comparisons",
    ),
    "schedule": Making(
        "/v1/schedules", {"name": "Weekly", "from_run": RUN, "timing": WEEKLY}, "deleted_at IS NULL AND id = $1", "schedules"
    ),
    "run": Making("/v1/runs", {"question": "Why duties?"}, "WHERE r.id = $1", "runs"),
    "response": Making(
        "/openai/v1/responses",
        {"model": "minddr", "input": "Why duties?", "background": True},
        "FROM events WHERE run_id = $1 AND seq >",
        "runs",
    ),
}


@pytest.fixture
def line(api_urls: tuple[str, str]) -> LossyProxy:
    return LossyProxy(api_urls[0])


@pytest.fixture
async def shaky(line: LossyProxy, api_urls: tuple[str, str], workflows: InMemoryRuns) -> AsyncIterator[ApiClient]:
    """An API whose line to the database can be cut."""
    async with (
        line.serve_url() as address,
        open_services(address, api_urls[1], workflows) as services,
        serve_api(services) as client,
    ):
        yield client


@pytest.fixture
async def run(pool: asyncpg.Pool) -> UUID:
    return await make_finished_run(pool, make_report("Duties protect labour at home."), LINEAGE)


@pytest.mark.parametrize("name", MAKINGS)
async def test_what_is_stored_and_cannot_be_shown_is_not_made_again(
    shaky: ApiClient, line: LossyProxy, pool: asyncpg.Pool, run: UUID, name: str
) -> None:
    path, asked, lost, table = MAKINGS[name]
    path, asked = path.replace(RUN, str(run)), {key: str(run) if value == RUN else value for key, value in asked.items()}
    before = await pool.fetchval(f"SELECT count(*) FROM {table}")
    headers = {"Idempotency-Key": name.replace(" ", "-")}
    with line.lose_answers_to(lost):
        assert (await shaky.post(path, asked, headers=headers)).status == 500
    assert (await shaky.post(path, asked, headers=headers)).status == 409
    assert await pool.fetchval(f"SELECT count(*) FROM {table}") == before + 1


async def test_a_draft_that_is_paid_for_and_cannot_be_stored_is_not_made_again(shaky: ApiClient, line: LossyProxy) -> None:
    headers = {"Idempotency-Key": "draft"}
    with line.lose_answers_to("INSERT INTO drafts"):
        assert (await shaky.post("/v1/rubrics", {"question": "Why duties?"}, headers=headers)).is_problem(500)
    assert (await shaky.post("/v1/rubrics", {"question": "Why duties?"}, headers=headers)).is_problem(409)


async def test_a_further_question_is_stored_with_its_details_or_not_at_all(
    shaky: ApiClient, line: LossyProxy, pool: asyncpg.Pool, run: UUID
) -> None:
    asked = {"model": "minddr", "input": "How high?", "background": True, "metadata": {"team": "duties"}}
    asked["previous_response_id"] = f"resp_{run.hex}"
    with line.lose_answers_to("INSERT INTO response_details"):
        assert (await shaky.post("/openai/v1/responses", asked)).status == 503
    assert await pool.fetchval("SELECT count(*) FROM report_tasks WHERE run_id = $1", run) == 0
    again = await shaky.post("/openai/v1/responses", asked)
    assert (again.status, again.json["metadata"]) == (200, {"team": "duties"})
    assert (await shaky.get(f"/openai/v1/responses/{again.json['id']}")).json["metadata"] == {"team": "duties"}
