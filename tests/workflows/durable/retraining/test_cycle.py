"""A cycle of retraining on real PostgreSQL and Temporal: its course, what people wish, and what is killed."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.domain.errors import Conflict, InvalidInput
from app.domain.model_versions import EvaluationKind, VersionState
from app.domain.retraining import Cycle, CycleEventType, CycleWish
from app.domain.served_models import ModelRole, ServedModel
from app.models.service.promotion import hold
from app.models.service.registry import describe_version, find_version
from app.models.service.serving import move_alias, register_settings
from app.models.storage import aliases, canaries, cycles, leases, served
from tests.support.adapter_server import serve_adapters
from tests.workflows.durable.retraining.toy_cycle import ANN, BEN, STAGE, ToyLoop
from tests.workflows.durable.whole_product import WholeProduct
from workflows.durable.retraining.activities import MOST_ATTEMPTS
from workflows.durable.retraining.leasing import LEASE

PROCESSES = ["snapshot", "check", *(f"rubric.{kind}" for kind in ("set", "train", "exam", "gate"))]
STEPS = [*PROCESSES, *(f"rubric.{kind}" for kind in ("register", "serve", "canary", "promote"))]
BY = (ANN, "a test")


@pytest.fixture
async def loop(house: WholeProduct, tmp_path: Path) -> AsyncIterator[ToyLoop]:
    async with serve_adapters() as server:
        yield ToyLoop(house, tmp_path / "loop", server)


async def test_takes_its_steps_in_order_and_ends_with_a_promotion(loop: ToyLoop) -> None:
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(), ANN)
        assert (await loop.wait_for(cycle.id, "promoted")).ended_at is not None
    assert loop.starts == PROCESSES
    finished = await loop.list_told(cycle.id, CycleEventType.STEP_FINISHED)
    assert [told["step"] for told in finished] == STEPS
    [moved] = await loop.list_told(cycle.id, CycleEventType.ALIAS_MOVED)
    alias = (await aliases.list_all(loop.house.database))[ModelRole.RUBRIC]
    assert alias.served == moved["went_to"] == next(iter(loop.server.loaded))
    record = await served.get(loop.house.database, alias.served)
    assert record is not None
    assert record.model.temperature == 1.0
    version = await find_version(loop.house.database, alias.served)
    assert (version.state, version.recipe, version.cycle) == (VersionState.SERVING, "rubric_generator", cycle.id)
    known = await describe_version(loop.house.database, version.id)
    assert known.pairs == 2
    assert set(EvaluationKind) - {each.kind for each in known.evaluations} == {EvaluationKind.ERASURE}
    seqs = [event.seq for event in await loop.cycles.list_events(cycle.id)]
    assert seqs == list(range(1, len(seqs) + 1))


async def test_a_refused_version_is_registered_and_served_to_nobody(loop: ToyLoop) -> None:
    loop.script(rubric_gate={"verdict": "refused", "detail": "the accuracy of held-out preferences fell"})
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(), ANN)
        ended = await loop.wait_for(cycle.id, "refused")
    assert "fell" in ended.detail
    assert loop.starts == PROCESSES
    version = await find_version(loop.house.database, "rubric-v1")
    assert version.state is VersionState.REFUSED
    assert loop.server.loaded == {}


async def test_a_stage_that_lacks_data_is_left_out_and_so_is_what_needs_it(loop: ToyLoop) -> None:
    loop.script(rubric_set={"verdict": "lacking", "detail": "38 pairs of 50"})
    writer = STAGE.replace('"rubric"', '"writer"', 2) + 'needs = "rubric"\n'
    alone = STAGE.replace('"rubric"', '"planner"', 2)
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(stages=STAGE + writer + alone), ANN)
        await loop.wait_for(cycle.id, "promoted")
    assert loop.starts == [*PROCESSES[:3], *(step.replace("rubric", "planner") for step in PROCESSES[2:])]


async def test_waits_for_a_person_where_the_plan_asks_one(loop: ToyLoop) -> None:
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan('approve = ["rubric.serve"]'), ANN)
        waiting = await loop.wait_for(cycle.id, "waiting")
        assert waiting.detail == "waits for the approval of rubric.serve"
        with pytest.raises(InvalidInput, match=r"asks before rubric\.serve"):
            await loop.cycles.approve(cycle.id, "rubric.train", *BY)
        await loop.cycles.approve(cycle.id, "rubric.serve", *BY)
        await loop.wait_for(cycle.id, "promoted")


async def test_a_pause_ends_the_process_and_the_step_goes_on_from_what_it_saved(loop: ToyLoop) -> None:
    loop.script(rubric_train={"ticks": 30})
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(), ANN)
        await loop.wait_for_ticks(cycle.id, "rubric.train", 3)
        await loop.cycles.wish(cycle.id, CycleWish.PAUSE, *BY)
        assert (await loop.wait_for(cycle.id, "paused")).detail == "before rubric.train"
        saved = (loop.folder / str(cycle.id) / "rubric.train" / "progress.json").read_text()
        loop.script(rubric_train={"ticks": 0})
        await loop.cycles.wish(cycle.id, CycleWish.GO, *BY)
        await loop.wait_for(cycle.id, "promoted")
    assert loop.starts.count("rubric.train") == 2
    assert saved != '{"ticks": 30}'


async def test_stops_after_the_step_in_hand_or_at_once(loop: ToyLoop) -> None:
    loop.script(rubric_train={"ticks": 20})
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(), ANN)
        await loop.wait_for_ticks(cycle.id, "rubric.train", 1)
        await loop.cycles.wish(cycle.id, CycleWish.STOP_AFTER, *BY)
        assert (await loop.wait_for(cycle.id, "stopped")).detail == "before rubric.exam"
        other = await loop.cycles.start(loop.write_plan(name="other"), ANN)
        await loop.wait_for_ticks(other.id, "rubric.train", 1)
        await loop.cycles.wish(other.id, CycleWish.STOP, *BY)
        assert (await loop.wait_for(other.id, "stopped")).detail == "before rubric.train"
        with pytest.raises(Conflict, match="has ended"):
            await loop.cycles.wish(other.id, CycleWish.GO, *BY)


async def test_a_worker_that_comes_later_finds_the_process_that_another_one_started(loop: ToyLoop) -> None:
    loop.script(rubric_train={"ticks": 40})
    async with loop.worker(build="first"):
        cycle = await loop.cycles.start(loop.write_plan(), ANN)
        await loop.wait_for_ticks(cycle.id, "rubric.train", 2)
    async with loop.worker(build="second"):
        await loop.wait_for(cycle.id, "promoted")
    assert loop.starts.count("rubric.train") == 1


async def test_a_killed_trainer_goes_on_and_its_keeper_too(loop: ToyLoop) -> None:
    loop.script(rubric_train={"ticks": 40})
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(), ANN)
        await loop.wait_for_ticks(cycle.id, "rubric.train", 2)
        keeper = int((loop.folder / str(cycle.id) / "rubric.train" / "keeper.lock").read_text())
        os.kill(keeper, signal.SIGKILL)
        await loop.wait_for(cycle.id, "promoted")
    assert loop.starts.count("rubric.train") == 2


async def test_a_step_that_fails_ends_the_cycle_with_what_it_printed(loop: ToyLoop) -> None:
    loop.script(rubric_train={"exit": 1, "prints": "CUDA out of memory"})
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(), ANN)
        ended = await loop.wait_for(cycle.id, "failed")
    assert "rubric.train: it ended with 1" in ended.detail
    assert "CUDA out of memory" in ended.detail


async def test_an_error_that_nobody_expected_is_tried_again_and_then_fails_the_step_with_its_traceback(loop: ToyLoop) -> None:
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan('approve = ["rubric.register"]'), ANN)
        await loop.wait_for(cycle.id, "waiting")
        (loop.folder / str(cycle.id) / "rubric.train" / "run" / "origin.json").write_text("{}")
        await loop.cycles.approve(cycle.id, "rubric.register", *BY)
        ended = await loop.wait_for(cycle.id, "failed")
    assert "KeyError: 'recipe'" in ended.detail
    begun = await loop.list_told(cycle.id, CycleEventType.STEP_STARTED)
    assert [told["attempt"] for told in begun if told["step"] == "rubric.register"] == list(range(1, MOST_ATTEMPTS + 1))
    [failed] = [
        told for told in await loop.list_told(cycle.id, CycleEventType.STEP_FINISHED) if told["step"] == "rubric.register"
    ]
    assert "in register_version" in failed["figures"]["traceback"]


async def test_a_cycle_that_has_spent_its_caps_ends(loop: ToyLoop) -> None:
    loop.script(rubric_set={"usd": 3.5})
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan("caps = {usd = 3.0}"), ANN)
        ended = await loop.wait_for(cycle.id, "failed")
    assert "US$ 3.50 of 3.00" in ended.detail
    assert "rubric.train" not in loop.starts


async def test_waits_for_a_device_that_another_has(loop: ToyLoop) -> None:
    database = loop.house.database
    assert await leases.take(database, "gpu-0", "the server of models", "serving", LEASE)
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan('device = "gpu-0"'), ANN)
        waiting = await loop.wait_for(cycle.id, "waiting")
        assert waiting.detail == "waits for gpu-0: the server of models uses it for serving"
        await leases.give_back(database, "gpu-0", "the server of models")
        await loop.wait_for(cycle.id, "promoted")
    assert await leases.find_holder(database, "gpu-0") is None


async def test_one_cycle_of_a_plan_is_under_way_at_a_time(loop: ToyLoop) -> None:
    first = await loop.cycles.start(loop.write_plan(), ANN)
    with pytest.raises(Conflict, match=f"{first.id}.*is under way"):
        await loop.cycles.start(loop.write_plan(), BEN)


async def test_of_several_starts_of_one_plan_at_once_one_begins(loop: ToyLoop) -> None:
    path = loop.write_plan()
    told = await asyncio.gather(*(loop.cycles.start(path, ANN) for _ in range(5)), return_exceptions=True)
    [begun] = [each for each in told if isinstance(each, Cycle)]
    refused = [str(each) for each in told if isinstance(each, Conflict)]
    assert refused == [f"the cycle {begun.id} of the plan weekly is under way; stop it, or wait for its end"] * 4
    assert [path.name for path in loop.folder.iterdir() if path.is_dir()] == [str(begun.id)]


async def test_a_lost_workflow_is_started_anew(loop: ToyLoop) -> None:
    cycle = await loop.cycles.start(loop.write_plan(), ANN)
    await loop.house.client.get_workflow_handle(f"retraining-{cycle.id}").terminate()
    async with loop.worker():
        await loop.house.make_reconciler().reconcile_once()
        await loop.wait_for(cycle.id, "promoted")
    assert await cycles.list_under_way(loop.house.database) == []


async def test_a_server_that_refuses_the_adapter_ends_the_cycle(loop: ToyLoop) -> None:
    loop.server.refuses = "its rank is above --max-lora-rank"
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(), ANN)
        ended = await loop.wait_for(cycle.id, "failed")
    assert "above --max-lora-rank" in ended.detail
    assert await aliases.list_all(loop.house.database) == {}


async def test_a_canary_that_too_few_saw_is_taken_back(loop: ToyLoop) -> None:
    async with loop.worker():
        path = loop.write_plan(canary="canary = {longest = 'PT1S', least_runs = 5}")
        cycle = await loop.cycles.start(path, ANN)
        ended = await loop.wait_for(cycle.id, "refused")
    assert "only 0 of 5 runs" in ended.detail
    assert (await find_version(loop.house.database, "rubric-v1")).state is VersionState.REFUSED


async def test_a_held_role_stays_and_the_version_waits_for_a_person(loop: ToyLoop) -> None:
    async with loop.house.database.acquire() as connection, connection.transaction():
        await hold(connection, ModelRole.RUBRIC, ANN.name, "a test")
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(), ANN)
        ended = await loop.wait_for(cycle.id, "lacking")
    assert "is held by ann@example.org" in ended.detail


async def test_a_role_that_a_person_moved_meanwhile_stays_as_they_said(loop: ToyLoop) -> None:
    models = [ServedModel(name=name, address="http://127.0.0.1:9/v1") for name in ("base", "another")]
    await register_settings(loop.house.database, models)
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan('approve = ["rubric.serve"]'), ANN)
        await loop.wait_for(cycle.id, "waiting")
        async with loop.house.database.acquire() as connection, connection.transaction():
            await move_alias(connection, ModelRole.RUBRIC, "another", ANN.name, "a test")
        await loop.cycles.approve(cycle.id, "rubric.serve", *BY)
        ended = await loop.wait_for(cycle.id, "lacking")
    assert "ann@example.org gave the rubric to another (a test)" in ended.detail
    assert (await aliases.list_all(loop.house.database))[ModelRole.RUBRIC].served == "another"
    assert (await find_version(loop.house.database, "rubric-v1")).state is VersionState.CANDIDATE


async def test_a_server_that_is_away_is_waited_for(loop: ToyLoop) -> None:
    path = loop.write_plan()
    text = path.read_text()
    path.write_text(text.replace(loop.server.url, "http://127.0.0.1:9/v1"))
    async with loop.worker():
        cycle = await loop.cycles.start(path, ANN)
        waiting = await loop.wait_for(cycle.id, "waiting")
        assert waiting.detail.startswith("rubric.serve waits for a server")
        await loop.cycles.wish(cycle.id, CycleWish.STOP, *BY)
        await loop.wait_for(cycle.id, "stopped")


async def test_a_process_whose_server_is_away_is_started_again(loop: ToyLoop) -> None:
    loop.script(rubric_exam={"exit": 75, "prints": "no answer from http://judge"})
    async with loop.worker():
        cycle = await loop.cycles.start(loop.write_plan(), ANN)
        waiting = await loop.wait_for(cycle.id, "waiting")
        assert waiting.detail == "rubric.exam waits for a server: no answer from http://judge"
        loop.script()
        await loop.wait_for(cycle.id, "promoted")
    assert loop.starts.count("rubric.exam") == 2


async def test_a_cycle_that_is_stopped_leaves_no_canary_behind(loop: ToyLoop) -> None:
    async with loop.worker():
        path = loop.write_plan(canary="canary = {longest = 'P1D', least_runs = 0}")
        cycle = await loop.cycles.start(path, ANN)
        while not await canaries.list_running(loop.house.database):
            await asyncio.sleep(0.1)
        await loop.cycles.wish(cycle.id, CycleWish.STOP, *BY)
        await loop.wait_for(cycle.id, "stopped")
    assert await canaries.list_running(loop.house.database) == {}
    assert (await find_version(loop.house.database, "rubric-v1")).state is VersionState.CANDIDATE
