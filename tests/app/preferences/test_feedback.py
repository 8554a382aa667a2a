"""Stars, flagged claims and consent over HTTP."""

from uuid import UUID, uuid4

import asyncpg
import pytest

from app.accounts.nouns.access import Role
from app.domain.writer import ReportLineage
from tests.app.annotators import add_person, make_finished_run, make_report
from tests.app.served_api import ApiClient

SAYS = "Duties protect labour at home."


@pytest.fixture
async def run_id(pool: asyncpg.Pool) -> UUID:
    return await make_finished_run(pool, make_report(SAYS), ReportLineage())


async def test_a_reader_rates_a_report_and_changes_the_rating(pool: asyncpg.Pool, api: ApiClient, run_id: UUID) -> None:
    reader, path = await add_person(pool, api), f"/v1/runs/{run_id}/rating"
    assert (await reader.get(path)).is_problem(404)
    assert (await reader.post(path, {"stars": 2, "comment": "thin"})).json["stars"] == 2
    await reader.post(path, {"stars": 4})
    assert {name: (await reader.get(path)).json[name] for name in ("stars", "comment")} == {"stars": 4, "comment": ""}
    assert (await (await add_person(pool, api)).get(path)).is_problem(404)
    for refused in ({"stars": 0}, {"stars": 6}, {"stars": 4.5}, {}, {"stars": 3, "comment": "\x00"}):
        assert (await reader.post(path, refused)).is_problem(400), refused
    assert (await reader.post(f"/v1/runs/{uuid4()}/rating", {"stars": 3})).is_problem(404)
    assert (await reader.post(f"/v1/runs/{await api.ask()}/rating", {"stars": 3})).is_problem(404)
    assert (await (await add_person(pool, api, Role.VIEWER)).post(path, {"stars": 3})).is_problem(403)


async def test_a_reader_flags_a_claim_and_takes_it_back(pool: asyncpg.Pool, api: ApiClient, run_id: UUID) -> None:
    reader, path = await add_person(pool, api), f"/v1/runs/{run_id}/claims/0/flag"
    flagged = (await reader.post(path, {"reason": "the source says otherwise"})).json
    assert (flagged["claim"], flagged["text"]) == (0, SAYS)
    await reader.post(path, {"reason": "it is dated"})
    [told] = (await reader.get(f"/v1/runs/{run_id}/flags")).json["items"]
    assert told["reason"] == "it is dated"
    assert (await reader.post(f"/v1/runs/{run_id}/claims/1/flag", {"reason": "?"})).is_problem(404)
    assert (await reader.post(path, {"reason": "  "})).is_problem(400)
    stranger = await add_person(pool, api, Role.OWNER, uuid4())
    assert (await stranger.post(path, {"reason": "?"})).is_problem(404)
    assert (await stranger.get(f"/v1/runs/{run_id}/flags")).is_problem(404)
    assert (await reader.send("DELETE", path)).status == 204
    assert (await reader.send("DELETE", path)).is_problem(404)
    assert (await reader.get(f"/v1/runs/{run_id}/flags")).json["items"] == []


async def test_what_is_said_of_a_changed_report_is_said_of_the_words_that_were_read(
    pool: asyncpg.Pool, api: ApiClient, run_id: UUID
) -> None:
    """A claim's number is that of the version on the reader's page; training reads it beside the delivered report."""
    reader, path = await add_person(pool, api), f"/v1/runs/{run_id}/claims"
    await pool.execute(
        """INSERT INTO report_versions (run_id, n, origin, based_on, usage, report, markdown, html, evidence)
        SELECT run_id, 2, 'edited', 1, '{}',
               jsonb_set(report::jsonb, '{claims}',
                         jsonb_build_array((report::jsonb #> '{claims,0}') || '{"text": "Put in before it."}')
                         || (report::jsonb -> 'claims'))::json, markdown, html, evidence
        FROM reports WHERE run_id = $1""",
        run_id,
    )
    assert (await reader.get(f"/v1/runs/{run_id}/report")).json["version"] == 2
    for version in ({}, {"version": 2}):
        flagged = (await reader.post(f"{path}/1/flag", {"reason": "it is dated", **version})).json
        assert (flagged["claim"], flagged["text"]) == (0, SAYS)
    new = await reader.post(f"{path}/0/flag", {"reason": "a reader put it there"})
    assert new.is_problem(404)
    assert "delivered" in new.json["detail"]
    assert (await reader.post(f"{path}/0/flag", {"reason": "as delivered", "version": 1})).json["text"] == SAYS
    assert len((await reader.get(f"/v1/runs/{run_id}/flags")).json["items"]) == 1
    stars = f"/v1/runs/{run_id}/rating"
    assert (await reader.post(stars, {"stars": 1})).is_problem(409)
    assert (await reader.post(stars, {"stars": 4, "version": 1})).json["stars"] == 4


async def test_consent_is_off_until_person_and_organisation_give_it(pool: asyncpg.Pool, api: ApiClient) -> None:
    home = uuid4()
    owner, member = await add_person(pool, api, Role.OWNER, home), await add_person(pool, api, Role.MEMBER, home)
    assert (await member.get("/v1/consent")).json == {"given": False, "person_since": None, "organisation_since": None}
    assert (await member.put("/v1/consent", {"organisation": True})).is_problem(403)
    given = (await member.put("/v1/consent", {"person": True})).json
    assert (given["given"], given["organisation_since"]) == (False, None)
    assert (await member.put("/v1/consent", {"person": True})).json == given
    assert (await owner.put("/v1/consent", {"organisation": True})).json["given"] is False
    assert (await member.get("/v1/consent")).json["given"] is True
    assert (await member.put("/v1/consent", {"person": False})).json["person_since"] is None
    assert (await owner.put("/v1/consent", {"organisation": False})).json["organisation_since"] is None
