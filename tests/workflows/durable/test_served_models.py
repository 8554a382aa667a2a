"""Each role of a run asks the served model that held it when the run was created, for as long as that model is there."""

import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID

import orjson

from app.domain.query import SystemName
from app.domain.run import RunStatus, WaitReason
from app.domain.served_models import ModelRole, ServedModel
from app.domain.trajectory import Turn
from app.models.service.serving import move_alias, register_settings
from app.models.storage import served
from app.settings import ClaimGrader
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.workflows.durable.toys import Gate, ToyIndex, make_toy_agents
from tests.workflows.durable.whole_product import WholeProduct
from workflows.agents.agent_set import AgentSet
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.chat_models.served_book import OpenModel
from workflows.durable.workshop import Workshop
from workflows.prompts.library import PromptLibrary

CALLS = 17
ROLES = {role.value: f"{role.value}-v1" for role in ModelRole}


@contextlib.asynccontextmanager
async def serve_names(
    house: WholeProduct, *names: str, agents: AgentSet | None = None, prompts: PromptLibrary | None = None
) -> AsyncIterator[tuple[ModelStub, Workshop]]:
    """Serve models of these names, the first as the settings' model, and run a worker that finds them in the database."""
    async with serve_model_stub(ModelStub(known=set(names))) as stub, contextlib.AsyncExitStack() as stack:

        async def connect(model: ServedModel) -> OpenModel:
            chat = await stack.enter_async_context(connect_model(ModelEndpoint(model.address, model.name)))
            return replace(shop.models.main, chat=chat)

        async def find(name: str) -> ServedModel | None:
            known = await served.get(house.database, name)
            return known.model if known and known.gone_at is None else None

        records = [ServedModel(name=name, address=stub.base_url) for name in names]
        await register_settings(house.database, records)
        main = await stack.enter_async_context(connect_model(ModelEndpoint(stub.base_url, names[0])))
        async with house.start_worker(agents or make_toy_agents(), chat=main, prompts=prompts) as shop:
            shop.models.find, shop.models.connect = find, connect
            yield stub, shop


async def give_role(house: WholeProduct, role: ModelRole, to: str) -> None:
    async with house.database.acquire() as connection, connection.transaction():
        await move_alias(connection, role, to, "ada@example.org", "better")


async def list_askers(house: WholeProduct, run_id: UUID) -> dict[str, set[str]]:
    """Return the steps that each model answered."""
    rows = await house.database.fetch("SELECT body FROM turns WHERE run_id = $1 AND kind = 'model'", run_id)
    found = defaultdict(set)
    for turn in (Turn.of_any_version(row["body"]) for row in rows):
        assert turn.completion is not None
        found[turn.completion.model].add(turn.step)
    return dict(found)


async def read_lineage(house: WholeProduct, run_id: UUID) -> dict[str, object]:
    result = await house.database.fetchval("SELECT result FROM stages WHERE run_id = $1 AND stage = 'report'", run_id)
    return dict(orjson.loads(result)["lineage"])


async def test_each_role_asks_its_own_model(house: WholeProduct) -> None:
    async with serve_names(house, "main", *ROLES.values(), agents=MODEL_DRIVEN, prompts=PromptLibrary.load()) as (_, shop):
        shop.judge = ClaimGrader.MODEL
        for role in ModelRole:
            await give_role(house, role, ROLES[role])
        run_id = await house.ask("Why tariffs?", rubric=True)
        await give_role(house, ModelRole.WRITER, "main")  # too late for this run
        await house.wait_for(run_id, RunStatus.COMPLETED)
    asked = await list_askers(house, run_id)
    assert asked["planner-v1"] >= {"plan"}
    assert asked["searcher-v1"] == {"act", "finding"}
    assert asked["rubric-v1"] == {"rubric"}
    assert "support" in asked["judge-v1"]
    assert "main" not in asked
    lineage = await read_lineage(house, run_id)
    assert lineage["models"] == ROLES
    assert lineage["model"] == "writer-v1"


async def test_an_agent_of_mams_searches_with_the_searcher_and_reports_with_the_writer(house: WholeProduct) -> None:
    async with serve_names(house, "main", "other", agents=MODEL_DRIVEN, prompts=PromptLibrary.load()):
        await give_role(house, ModelRole.SEARCHER, "other")
        run_id = await house.ask("Why tariffs?", system=SystemName.MAMS)
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert any(step.startswith("markov") or "state" in step for step in (await list_askers(house, run_id))["other"])


async def test_a_run_whose_model_is_gone_waits_and_takes_the_present_holder_when_a_reader_says_so(house: WholeProduct) -> None:
    house.index = ToyIndex(hook=(gate := Gate("s3 2")))
    async with serve_names(house, "main", "writer-v1", "writer-v2") as (stub, _):
        await give_role(house, ModelRole.WRITER, "writer-v1")
        run_id = await house.ask()
        await gate.reached.wait()
        stub.known.remove("writer-v1")
        gate.open()
        run = await house.wait_for(run_id, RunStatus.PAUSED)
        assert run.reason is WaitReason.MODEL_REFUSED
        assert "the model 'writer-v1' is gone, which is this run's writer" in run.detail
        assert "does not exist" in run.detail
        assert "no other model has its role yet" in run.detail
        gone = await served.get(house.database, "writer-v1")
        assert gone is not None
        assert gone.gone_at is not None

        await give_role(house, ModelRole.WRITER, "writer-v2")
        await house.steering.resume(run_id, finish=False)  # without a word of the reader's no role changes its model
        while "takes writer: writer-v2" not in run.detail:
            run = await house.wait_for(run_id, RunStatus.PAUSED)
        searched = stub.bill.outcomes["answered"]
        await house.steering.resume(run_id, finish=False, present_models=True)
        await house.wait_for(run_id, RunStatus.COMPLETED)
        assert stub.bill.outcomes["answered"] == CALLS
        assert searched == 10
    asked = await list_askers(house, run_id)
    assert asked == {"main": {"plan", "act"}, "writer-v2": {"outline", "section"}}
    assert (await read_lineage(house, run_id))["models"] == {**dict.fromkeys(ModelRole, "main"), "writer": "writer-v2"}


async def test_a_run_of_before_there_were_aliases_asks_the_settings_model(house: WholeProduct) -> None:
    async with house.start_worker():
        run_id = await house.ask()
        await house.wait_for(run_id, RunStatus.COMPLETED)
    assert list(await list_askers(house, run_id)) == ["toy"]
    assert (await read_lineage(house, run_id))["models"] == dict.fromkeys(ModelRole, "toy")
