"""The models of a cycle on real PostgreSQL and Temporal: those that it moves, in all their roles, and those that it asks."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.model_versions import VersionState
from app.domain.retraining import Cycle, CycleEventType, CycleWish
from app.domain.served_models import ModelRole, ServedModel
from app.models.service.promotion import hold
from app.models.service.registry import find_version
from app.models.service.serving import move_alias, register_settings
from app.models.storage import aliases, served
from tests.support.adapter_server import serve_adapters
from tests.workflows.durable.retraining.toy_cycle import ANN, STAGE, ToyLoop
from tests.workflows.durable.whole_product import WholeProduct

BY = (ANN, "a test")
BOTH = STAGE.replace('role = "rubric"', 'role = "rubric"\nalso = ["judge"]')


@pytest.fixture
async def loop(house: WholeProduct, tmp_path: Path) -> AsyncIterator[ToyLoop]:
    async with serve_adapters() as server:
        yield ToyLoop(house, tmp_path / "loop", server)


async def test_a_model_for_several_roles_gets_them_together(loop: ToyLoop) -> None:
    models = [ServedModel(name="base", address="http://127.0.0.1:9/v1")]
    await register_settings(loop.house.database, models)
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(stages=BOTH), ANN)
        await loop.wait_for(cycle.id, "promoted")
        moved = await loop.list_told(cycle.id, CycleEventType.ALIAS_MOVED)
        holders = {role: alias.served for role, alias in (await aliases.list_all(loop.house.database)).items()}
    assert [told["role"] for told in moved] == ["rubric", "judge"]
    assert holders[ModelRole.RUBRIC] == holders[ModelRole.JUDGE] == moved[0]["went_to"]
    assert holders[ModelRole.WRITER] == "base"
    at = await loop.house.database.fetch("SELECT DISTINCT at FROM alias_moves WHERE by = 'cycle'")
    assert len(at) == 1, "in one transaction"


async def test_one_held_role_keeps_a_model_for_several_from_all(loop: ToyLoop) -> None:
    async with loop.house.database.acquire() as connection, connection.transaction():
        await hold(connection, ModelRole.JUDGE, ANN.name, "a test")
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(stages=BOTH), ANN)
        ended = await loop.wait_for(cycle.id, "lacking")
    assert "the judge is held by ann@example.org" in ended.detail
    assert await aliases.list_all(loop.house.database) == {}
    assert (await find_version(loop.house.database, "rubric-v1")).state is VersionState.CANDIDATE


async def restart_set(loop: ToyLoop, gone: bool) -> tuple[Cycle, str]:
    """Start a set again for which a model writes rubrics, after its role was given to another; `gone`: its server lost it, too.

    Return the cycle as it ended, and the model of the set that was started again.
    """
    models = [ServedModel(name=name, address="http://127.0.0.1:9/v1") for name in ("first", "second")]
    await register_settings(loop.house.database, models)
    loop.script(rubric_set={"ticks": 30})
    async with loop.worker():
        path = loop.write_plan(stages=STAGE.replace('gate = "gate', 'generator = "@rubric"\ngate = "gate'))
        cycle = await loop.cycles.start(path, ANN)
        await loop.wait_for_ticks(cycle.id, "rubric.set", 2)
        await loop.cycles.wish(cycle.id, CycleWish.PAUSE, *BY)
        await loop.wait_for(cycle.id, "paused")
        async with loop.house.database.acquire() as connection, connection.transaction():
            await move_alias(connection, ModelRole.RUBRIC, "second", ANN.name, "a test")
        if gone:
            await served.mark_gone(loop.house.database, "first")
        loop.script()
        await loop.cycles.wish(cycle.id, CycleWish.GO, *BY)
        ended = await loop.wait_for(cycle.id, *(["failed"] if gone else ["lacking"]))
    task = json.loads((loop.folder / str(cycle.id) / "rubric.set" / "task.json").read_text())
    return ended, task["generator"]["name"]


async def test_a_set_keeps_the_generator_that_it_was_begun_with(loop: ToyLoop) -> None:
    ended, generator = await restart_set(loop, gone=False)
    assert generator == "first"
    assert "gave the rubric to second" in ended.detail, "the person's word holds; the version stays a candidate"


async def test_a_set_whose_generator_is_gone_says_what_to_do(loop: ToyLoop) -> None:
    ended, _ = await restart_set(loop, gone=True)
    assert "the rubrics of this set are written by first" in ended.detail
    assert "start another cycle" in ended.detail
