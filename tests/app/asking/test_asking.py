"""Before a run and around its rubric, as a client of the API sees it."""

import uuid
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from app.accounts.nouns.api_key import ApiKey
from app.accounts.service.bootstrap import ensure_owner
from app.asking.storage import rubrics
from app.domain.query import ResearchQuery
from app.domain.rubric import Rubric
from app.domain.run import EventType, RunStatus
from app.domain.scorecard import CriterionScore, scorecard_of
from app.runs.storage.run_log import NOTHING, RunLog
from tests.app.served_api import ApiClient, InMemoryRuns
from tests.support.stage_opening import open_stage
from workflows.judging.general_rubric import make_general_rubric

QUESTION = "How did American presidents justify tariffs?"
GENERAL = make_general_rubric(ResearchQuery(question=QUESTION))
EDITED = [criterion.model_dump() for criterion in GENERAL.criteria]
EDITED[0] = {"title": "Mine", "description": "Key Criterion: Names McKinley.", "weight": 5}


@pytest.fixture
async def stranger(pool: asyncpg.Pool) -> dict[str, str]:
    """The headers of another organisation's owner."""
    key, owner = ApiKey.new(), uuid.uuid4()
    async with pool.acquire() as connection:
        await ensure_owner(connection, key, uuid.uuid4(), owner, "Theirs", f"{owner}@example.org")
    return {"Authorization": f"Bearer {key}"}


async def test_a_drafted_rubric_is_edited_and_both_are_kept_with_the_run(
    api: ApiClient, pool: asyncpg.Pool, stranger: dict[str, str]
) -> None:
    drafted = await api.post("/v1/rubrics", {"question": QUESTION})
    assert drafted.status == 201
    assert drafted.json["rubric"] == GENERAL.model_dump(mode="json")
    assert drafted.json["usage"]["input_tokens"] == 9
    assert await pool.fetchval("SELECT input_tokens FROM drafts WHERE id = $1", UUID(drafted.json["id"])) == 9
    run = await api.ask(QUESTION, rubric={"criteria": EDITED, "draft": drafted.json["id"]})
    assert (await api.get(f"/v1/runs/{run}")).json["query"]["rubric"] is True
    kept = (await api.get(f"/v1/runs/{run}/rubric")).json
    assert kept["drafted"] == drafted.json["rubric"]
    assert (kept["rubric"]["criteria"], kept["rubric"]["origin"]) == (EDITED, "reader")
    assert kept["edited_at"]
    as_drafted = [criterion.model_dump() for criterion in GENERAL.criteria]
    same = await api.ask(QUESTION, rubric={"criteria": as_drafted, "draft": drafted.json["id"]})
    kept = (await api.get(f"/v1/runs/{same}/rubric")).json
    assert (kept["rubric"]["origin"], kept["edited_at"]) == ("general", None)
    elsewhere = await api.post("/v1/runs", {"question": "x?", "rubric": {"criteria": EDITED, "draft": str(uuid.uuid4())}})
    assert elsewhere.is_problem(400)
    theirs = await api.post(
        "/v1/runs",
        {"question": "x?", "rubric": {"criteria": EDITED, "draft": drafted.json["id"]}},
        headers=stranger,
    )
    assert theirs.is_problem(400), "another organisation's draft is not there"


async def test_a_rubric_is_edited_until_the_report_is_being_written(api: ApiClient, run_log: RunLog) -> None:
    run = await api.ask(QUESTION, rubric="auto")
    assert "drafted with the plan" in (await api.get(f"/v1/runs/{run}/rubric")).json["detail"]
    assert (await api.put(f"/v1/runs/{run}/rubric", {"criteria": EDITED})).is_problem(404)
    await rubrics.add_draft(run_log.executor, UUID(run), GENERAL)
    await rubrics.add_draft(run_log.executor, UUID(run), Rubric(criteria=GENERAL.criteria[:7]))
    edited = await api.put(f"/v1/runs/{run}/rubric", {"criteria": EDITED})
    assert (edited.status, edited.json["rubric"]["criteria"]) == (200, EDITED)
    assert edited.json["drafted"] == GENERAL.model_dump(mode="json")
    await open_stage(run_log, UUID(run), "report", NOTHING)
    assert (await api.put(f"/v1/runs/{run}/rubric", {"criteria": EDITED[1:]})).is_problem(409)
    assert (await api.get(f"/v1/runs/{run}/rubric")).json["rubric"]["criteria"] == EDITED
    card = scorecard_of(CriterionScore(criterion=c, missing="nobody was there") for c in GENERAL.criteria)
    assert (await api.get(f"/v1/runs/{run}/scorecard")).is_problem(404)
    await rubrics.save_scorecard(run_log.executor, UUID(run), card)
    assert (await api.get(f"/v1/runs/{run}/scorecard")).json == card.model_dump(mode="json")
    await run_log.set_status(UUID(run), RunStatus.COMPLETED)
    events = [(event["type"], event["payload"]) async for event in api.events(run)]
    told = {EventType.RUBRIC_DRAFTED, EventType.RUBRIC_EDITED, EventType.SCORECARD_READY}
    assert [kind for kind, _ in events if kind in told] == ["rubric_drafted", "rubric_edited", "scorecard_ready"]
    plain = await api.ask(QUESTION)
    for path in ("rubric", "scorecard"):
        assert "without" in (await api.get(f"/v1/runs/{plain}/{path}")).json["detail"]


@pytest.mark.parametrize(
    ("criteria", "reason"),
    [
        (EDITED[:3], "at least 7"),
        (EDITED * 3, "20"),
        ([*EDITED, EDITED[0]], "same title"),
        ([{**EDITED[0], "weight": 4}, *EDITED[1:]], "its weight has to be 5"),
        ([{**EDITED[0], "description": "Names McKinley."}, *EDITED[1:]], "has to begin with"),
        ([{**EDITED[0], "description": "Key Criterion: Names McKinley. And others."}, *EDITED[1:]], "one sentence"),
        ([{**EDITED[0], "source": "x"}, *EDITED[1:]], "source"),
    ],
)
async def test_what_makes_no_rubric_is_refused_with_what_to_do(api: ApiClient, criteria: Any, reason: str) -> None:
    refused = await api.post("/v1/runs", {"question": "x?", "rubric": {"criteria": criteria}})
    assert refused.is_problem(400)
    assert reason in refused.json["detail"]


async def test_questions_back_and_their_answers(api: ApiClient, workflows: InMemoryRuns) -> None:
    asked = await api.post("/v1/clarifications", {"question": QUESTION})
    assert (asked.status, asked.json["questions"][0]["question"], asked.json["model"]) == (201, "Which country?", "stub")
    workflows.away = True
    assert (await api.post("/v1/clarifications", {"question": QUESTION})).is_problem(503)
    assert (await api.post("/v1/rubrics", {"question": ""})).is_problem(400)


async def test_what_a_person_typed_spoils_no_statistics(api: ApiClient, run_log: RunLog) -> None:
    """A NUL is a character of JSON, but none of PostgreSQL's text: an estimate reads all queries."""
    answers = [{"question": "Which\x00 years?", "answer": "all\u0000 of\u202e them"}]
    run = await api.post("/v1/runs", {"question": QUESTION, "effort": "deep", "audience": "a\x00b", "clarified": answers})
    assert run.json["query"]["clarified"] == [{"question": "Which years?", "answer": "all of them"}]
    assert run.json["query"]["style"]["audience"] == "ab"
    await run_log.set_status(UUID(run.json["id"]), RunStatus.COMPLETED)
    assert (await api.post("/v1/estimates", {"question": QUESTION, "effort": "deep", "clarified": answers})).json["runs"] == 1
    drafted = await api.post("/v1/rubrics", {"question": QUESTION, "clarified": answers})
    assert drafted.status == 201


async def test_an_estimate_moves_from_experience_to_history(
    api: ApiClient, run_log: RunLog, pool: asyncpg.Pool, stranger: dict[str, str]
) -> None:
    async def estimate(**options: Any) -> Any:
        reply = await api.post("/v1/estimates", {"question": QUESTION, "effort": "quick", **options})
        assert reply.status == 200
        return reply.json

    before = await estimate()
    assert (before["runs"], before["model"], before["cost_microusd"]["high"]) == (0, "", 0)
    assert before["seconds"]["low"] < before["seconds"]["likely"] < before["seconds"]["high"]
    for _ in range(3):
        run = UUID(await api.ask(QUESTION, effort="quick"))
        await pool.execute("UPDATE ledgers SET active_seconds = 600, running_since = NULL WHERE run_id = $1", run)
        await run_log.set_status(run, RunStatus.COMPLETED)
    after = await estimate()
    assert after["runs"] == 3
    assert before["seconds"]["high"] < after["seconds"]["likely"] < 700
    assert (await estimate(effort="standard"))["runs"] == (await estimate(rubric="auto"))["runs"] == 0
    assert not (await estimate(budget={"max_seconds": 1}))["within_budget"]
    react = await estimate(system="react")
    together = await estimate(beside=["react"])
    assert together["tokens"]["high"] == after["tokens"]["high"] + react["tokens"]["high"]
    assert together["seconds"]["likely"] == max(after["seconds"]["likely"], react["seconds"]["likely"])
    assert (together["runs"], react["runs"]) == (3, 0)
    assert (await api.post("/v1/estimates", {"question": QUESTION, "beside": ["minddr"]})).is_problem(400), "its own system twice"
    theirs = await api.post("/v1/estimates", {"question": "x?", "effort": "quick"}, headers=stranger)
    assert theirs.json["runs"] == 0, "other organisations' runs do not count"
