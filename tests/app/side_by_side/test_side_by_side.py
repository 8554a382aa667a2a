"""Several systems on one question, as a client of the API sees them."""

import asyncio
import uuid
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from app.accounts.nouns.api_key import ApiKey
from app.accounts.service.bootstrap import ensure_owner
from app.asking.storage import rubrics
from app.domain.budget import StopReason, Usage
from app.domain.evidence import Finding
from app.domain.query import ResearchQuery
from app.domain.run import RunStatus
from app.domain.scorecard import CriterionScore, scorecard_of
from app.runs.storage import tool_results
from app.runs.storage.run_log import NOTHING, RunLog
from tests.app.finished_run import write_end
from tests.app.served_api import ApiClient, InMemoryRuns
from tests.support.stage_opening import open_stage
from workflows.judging.general_rubric import make_general_rubric

QUESTION = "How did American presidents justify tariffs?"
ALL = {"question": QUESTION, "beside": ["mams", "react"], "rubric": "auto", "effort": "quick", "approve_plan": True}


def systems(shown: Any) -> list[str]:
    return [column["run"]["query"]["system"] for column in shown["columns"]]


async def test_one_question_several_systems_one_rubric(api: ApiClient, workflows: InMemoryRuns, run_log: RunLog) -> None:
    key = {"Idempotency-Key": str(uuid.uuid4())}
    run = (await api.post("/v1/runs", ALL, headers=key)).json["id"]
    assert (await api.post("/v1/runs", ALL, headers=key)).json["id"] == run, "a repeated request starts nothing twice"
    shown = (await api.get(f"/v1/runs/{run}/side-by-side")).json
    assert (shown["first"], shown["question"], systems(shown)) == (run, QUESTION, ["minddr", "mams", "react"])
    queries = [column["run"]["query"] for column in shown["columns"]]
    assert [query["evidence_of"] for query in queries] == [None, run, run]
    assert [query["approve_plan"] for query in queries] == [True, False, False]
    assert {query["effort"] for query in queries} == {"quick"}
    assert len(workflows.started) == 3
    drafted = make_general_rubric(ResearchQuery(question=QUESTION)).model_dump(mode="json")
    for column in shown["columns"]:
        assert (await api.get(f"/v1/runs/{column['run']['id']}/rubric")).json["rubric"] == drafted == shown["rubric"]
    other = shown["columns"][1]["run"]["id"]
    assert (await api.get(f"/v1/runs/{other}/side-by-side")).json == shown, "every one of them shows all"

    finding = Finding(subtask_id="s1", stop=StopReason.SUFFICIENT, turns=4, usage=Usage(tool_calls=7))
    opened = await open_stage(run_log, UUID(other), "search/s1", NOTHING)
    await run_log.close_stage(UUID(other), "search/s1", opened.attempt, finding.model_dump_json().encode(), (), {}, frozenset())
    rubric = make_general_rubric(ResearchQuery(question=QUESTION))
    card = scorecard_of(CriterionScore(criterion=c, score=0.5, judge="model") for c in rubric.criteria)
    await rubrics.save_scorecard(run_log.executor, UUID(other), card)
    columns = (await api.get(f"/v1/runs/{run}/side-by-side")).json["columns"]
    assert [column["interactions"] for column in columns] == [None, {"turns": 4, "tool_calls": 7}, None]
    assert [column["scorecard"] and column["scorecard"]["overall"] for column in columns] == [None, card.overall, None]


async def test_the_others_stand_when_the_first_is_no_longer_kept(api: ApiClient, pool: asyncpg.Pool, run_log: RunLog) -> None:
    run = (await api.post("/v1/runs", ALL)).json["id"]
    other = (await api.get(f"/v1/runs/{run}/side-by-side")).json["columns"][1]["run"]["id"]
    await pool.execute("DELETE FROM runs WHERE id = $1", UUID(run))
    shown = (await api.get(f"/v1/runs/{other}/side-by-side")).json
    assert (systems(shown), shown["first"]) == (["mams", "react"], other)
    assert shown["rubric"]
    assert systems((await api.post(f"/v1/runs/{other}/side-by-side", {"systems": ["minddr"]})).json) == [
        "mams",
        "react",
        "minddr",
    ]
    assert await tool_results.remember(run_log.executor, UUID(run), "key", b"found") == b"found", (
        "nothing is kept, and nothing fails"
    )


async def test_further_systems_are_added_to_a_run_once(api: ApiClient, run_log: RunLog) -> None:
    run = await api.ask(QUESTION)
    path = f"/v1/runs/{run}/side-by-side"
    assert systems((await api.get(path)).json) == ["minddr"]
    answers = await asyncio.gather(*(api.post(path, {"systems": ["mams"]}) for _ in range(3)))
    assert sorted(answer.status for answer in answers) == [201, 409, 409]
    shown = next(answer.json for answer in answers if answer.status == 201)
    assert systems(shown) == ["minddr", "mams"]
    assert (await api.post(path, {"systems": ["minddr"]})).is_problem(409)
    second = shown["columns"][1]["run"]["id"]
    await run_log.set_status(UUID(second), RunStatus.FAILED, "the model was away")
    through_second = await api.post(f"/v1/runs/{second}/side-by-side", {"systems": ["mams", "react"]})
    assert systems(through_second.json) == ["minddr", "mams", "mams", "react"], "one that failed may be tried again"
    assert (await api.get(f"/v1/runs/{run}")).json["query"]["rubric"] is False
    undrafted = await api.ask(QUESTION, rubric="auto")
    refused = await api.post(f"/v1/runs/{undrafted}/side-by-side", {"systems": ["mams"]})
    assert refused.is_problem(409)
    assert "not drafted yet" in refused.json["detail"]


async def test_whoever_adds_a_system_takes_over_no_yes_to_tools_that_write(api: ApiClient) -> None:
    asked = {"question": QUESTION, "beside": ["mams"], "tools_that_write": ["shop.order"], "published_from": "1900-01-01"}
    run = (await api.post("/v1/runs", asked)).json["id"]
    shown = (await api.post(f"/v1/runs/{run}/side-by-side", {"systems": ["react"]})).json
    scopes = [column["run"]["query"]["scope"] for column in shown["columns"]]
    assert [scope["tools_that_write"] for scope in scopes] == [["shop.order"], ["shop.order"], []]
    assert {scope["published_from"] for scope in scopes} == {"1900-01-01"}


async def test_a_report_is_judged_afterwards_by_a_rubric_of_the_reader(
    api: ApiClient, workflows: InMemoryRuns, run_log: RunLog, stranger: dict[str, str]
) -> None:
    run = await api.ask(QUESTION)
    path = f"/v1/runs/{run}/side-by-side/scores"
    assert (await api.post(path, {})).is_problem(409), "it is under way"
    await write_end(run_log.executor, run_log, UUID(run))
    criteria = [c.model_dump(mode="json") for c in make_general_rubric(ResearchQuery(question=QUESTION)).criteria]
    assert (await api.post(path, {"rubric": {"criteria": criteria[:2]}})).is_problem(400)
    assert (await api.post(path, {"rubric": {"criteria": criteria}}, headers=stranger)).is_problem(404)
    mine = [{**criteria[0], "title": "Mine"}, *criteria[1:]]
    asked = await api.post(path, {"rubric": {"criteria": mine}})
    assert asked.status == 201, asked.json
    column = asked.json["columns"][0]
    assert (asked.json["rubric"]["criteria"][0]["title"], column["judging"], column["scorecard"]) == ("Mine", True, None)
    assert [str(run_id) for run_id, _ in workflows.tasks] == [run]
    assert (await api.get(f"/v1/runs/{run}/changes")).json["items"] == [], "a judging is no change"
    assert (await api.post(path, {})).is_problem(409), "it is being judged"


@pytest.mark.parametrize(
    "body", [{"systems": []}, {"systems": ["nobody"]}, {"systems": ["mams", "mams"]}, {"systems": "mams"}, {"system": ["mams"]}]
)
async def test_what_makes_no_sense_is_refused(api: ApiClient, body: Any) -> None:
    run = await api.ask(QUESTION)
    assert (await api.post(f"/v1/runs/{run}/side-by-side", body)).is_problem(400)
    assert systems((await api.get(f"/v1/runs/{run}/side-by-side")).json) == ["minddr"]


@pytest.fixture
async def stranger(pool: asyncpg.Pool) -> dict[str, str]:
    """The headers of another organisation's owner."""
    key, owner = ApiKey.new(), uuid.uuid4()
    async with pool.acquire() as connection:
        await ensure_owner(connection, key, uuid.uuid4(), owner, "Theirs", f"{owner}@example.org")
    return {"Authorization": f"Bearer {key}"}


async def test_a_refused_question_leaves_nothing(api: ApiClient, stranger: dict[str, str]) -> None:
    for beside in (["minddr"], ["mams", "mams"], ["nobody"]):
        asked = {"question": QUESTION, "beside": beside}
        assert (await api.post("/v1/runs", asked, headers=stranger)).is_problem(400)
    assert (await api.send("PUT", "/v1/quotas", json={"concurrent_runs": 2}, headers=stranger)).status == 200
    asked = {"question": QUESTION, "beside": ["mams", "react"]}
    assert (await api.post("/v1/runs", asked, headers=stranger)).is_problem(429)
    assert (await api.get("/v1/runs", headers=stranger)).json["items"] == []
    two = await api.post("/v1/runs", {"question": QUESTION, "beside": ["mams"]}, headers=stranger)
    assert two.status == 201, "two are within the limit"


async def test_another_organisation_sees_and_adds_nothing(api: ApiClient, stranger: dict[str, str]) -> None:
    run = (await api.post("/v1/runs", ALL)).json["id"]
    assert (await api.get(f"/v1/runs/{run}/side-by-side", headers=stranger)).is_problem(404)
    added = await api.post(f"/v1/runs/{run}/side-by-side", {"systems": ["deeprubric"]}, headers=stranger)
    assert added.is_problem(404)
    assert len((await api.get(f"/v1/runs/{run}/side-by-side")).json["columns"]) == 3
