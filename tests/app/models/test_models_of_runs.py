"""The models of a run's roles are fixed as it is created, whoever creates it; no client can name them, and none is told."""

from uuid import UUID, uuid4

import asyncpg
import orjson

from app.accounts.nouns.access import Role
from app.comparisons.service.offers import Offers
from app.domain.served_models import ModelRole, ServedModel
from app.domain.writer import ReportLineage
from app.http.services import open_services
from app.models.service.serving import add_model, move_alias
from app.models.storage import served
from app.runs.storage.run_log import RunLog
from tests.app.annotators import add_person, make_finished_run, make_report
from tests.app.served_api import ApiClient, InMemoryRuns, serve_api

FIRST, SECOND = (ServedModel(name=name, address="http://127.0.0.1:9/v1") for name in ("first-model", "second-model"))


async def read_models(pool: asyncpg.Pool, run_id: str) -> dict[str, str]:
    return dict((await RunLog(pool).load(UUID(run_id))).query.models)


async def test_a_run_keeps_the_models_that_it_was_created_with(
    api_urls: tuple[str, str], pool: asyncpg.Pool, workflows: InMemoryRuns
) -> None:
    async with open_services(*api_urls, workflows, serving=[FIRST, SECOND]) as services, serve_api(services) as api:
        early = (await api.post("/v1/runs", {"question": "Who wrote it?"})).json
        async with pool.acquire() as connection, connection.transaction():
            await move_alias(connection, ModelRole.WRITER, SECOND.name, "ada@example.org", "better")
        later = (await api.post("/v1/runs", {"question": "Who wrote it?", "beside": ["react"]})).json
        for run, writer in ((early, ""), (later, "second-model")):  # an empty name means the settings' model
            assert await read_models(pool, run["id"]) == {**dict.fromkeys(ModelRole, ""), "writer": writer}
        [beside] = await pool.fetch("SELECT id FROM runs WHERE query->>'evidence_of' = $1", later["id"])
        assert await read_models(pool, str(beside["id"])) == await read_models(pool, later["id"])

        told = [early, (await api.get(f"/v1/runs/{early['id']}")).json, (await api.get("/v1/runs")).json]
        assert b"-model" not in orjson.dumps(told)
        refused = await api.post("/v1/runs", {"question": "Who?", "models": {"writer": "second-model"}})
        assert refused.is_problem(400)


async def test_only_a_run_that_waits_for_its_model_may_change_it(api: ApiClient) -> None:
    run_id = await api.ask()
    await api.post(f"/v1/runs/{run_id}/pause")
    refused = await api.post(f"/v1/runs/{run_id}/resume", {"present_models": True})
    assert refused.is_problem(409)
    assert "keeps the models that it began with" in refused.json["detail"]


async def test_the_operators_people_may_compare_with_any_served_model_that_is_there(
    api_urls: tuple[str, str], pool: asyncpg.Pool, workflows: InMemoryRuns
) -> None:
    trained, gone = (ServedModel(name=name, address="http://127.0.0.1:9/v1") for name in ("writer-v7-0a", "writer-v6-0b"))
    offers = Offers(FIRST.name)
    async with open_services(*api_urls, workflows, serving=[FIRST], offers=offers) as services, serve_api(services) as api:
        await add_model(pool, trained)
        await add_model(pool, gone)
        await served.mark_gone(pool, gone.name)
        ours = await add_person(pool, api, Role.MEMBER)
        theirs = await add_person(pool, api, Role.OWNER, uuid4())
        told = [(await person.get("/v1/preferences/ways")).json["items"] for person in (ours, theirs)]
        assert [trained.name in [way["name"] for way in ways] for ways in told] == [True, False]
        assert gone.name not in orjson.dumps(told).decode()
        for person, status in ((ours, 201), (theirs, 400)):
            run_id = await make_finished_run(pool, make_report("Duties."), ReportLineage(model=FIRST.name))
            if person is theirs:
                home = await pool.fetchval("SELECT organisation_id FROM memberships WHERE user_id = $1", theirs.id)
                await pool.execute("UPDATE runs SET organisation_id = $2 WHERE id = $1", run_id, home)
            body = {"run_id": str(run_id), "writer": {"model": trained.name}}
            assert (await person.post("/v1/comparisons", body)).status == status
