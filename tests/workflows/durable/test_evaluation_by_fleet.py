"""`rubrica eval run --fleet`: workers answer, the folder keeps, and what failed is asked again by a new fleet."""

from pathlib import Path

import pytest

from app.accounts.nouns.access import LOCAL_ORGANISATION
from app.database.tenancy import Tenant, TenantDatabase, act_for
from app.domain.errors import InvalidInput, ModelRefused
from app.fleets.service import Fleets
from app.settings import Settings
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.training.evaluation.small_benchmark import write_benchmark
from tests.workflows.durable.test_brief_in_place import AGENTS
from tests.workflows.durable.toys import SOURCE, answer_at_once
from tests.workflows.durable.whole_product import WholeProduct
from training.evaluation.harness.evaluation_loop import EvaluationProgress
from training.evaluation.harness.fleet import Deployment
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.starting import FinishedRun, run_benchmark

CALLS = 17
QUESTIONS = "SELECT array_agg(questions ORDER BY created_at) FROM fleets"


async def fail_once(said: str) -> None:
    """The model refuses one outline."""
    if said.startswith("outline") and not refused:
        refused.append(said)
        raise ModelRefused("not today")


refused: list[str] = []


async def test_a_fleet_answers_a_benchmark_and_asks_again_what_failed(house: WholeProduct, tmp_path: Path) -> None:
    refused.clear()
    house.model.hook = fail_once
    data, out, told = write_benchmark(tmp_path / "data"), tmp_path / "out", list[EvaluationProgress]()
    wanted = RunRequest("drb-race", data, out, at_once=3, fleet=True)
    deployment = Deployment(Fleets(TenantDatabase(house.database), house.gateway), house.database)
    async with serve_model_stub(ModelStub()) as stub, house.start_worker():
        settings = Settings.model_validate({"llm_base_url": stub.base_url, "llm_model": "toy", "home": tmp_path / "home"})

        async def evaluated() -> FinishedRun:
            with act_for(Tenant(LOCAL_ORGANISATION)):
                return await run_benchmark(settings, wanted, told.append, deployment)

        first = await evaluated()
        failed = next(progress for progress in told if progress.problem)
        assert failed.problem.startswith(
            "no model wrote it; if the stack has none, give it the manifest's, toy. The report says: "
        )
        assert "not today" in failed.problem
        assert len(first.scores) == 2
        house.model.hook = answer_at_once
        judged, worked = stub.bill.outcomes["answered"], len(house.model.asked)
        again = await evaluated()
        assert [scores.missing for scores in again.scores] == [{}] * 3
        assert stub.bill.outcomes["answered"] - judged == judged / 2  # the third item's judgement, and no other's
        assert len(house.model.asked) - worked == CALLS
        assert await house.database.fetchval(QUESTIONS) == [3, 1]
    folder = RunFolder(out)
    answers = folder.read_answers()
    assert {answer.usage.model_calls for answer in answers.values()} == {CALLS}
    assert {len([turn for turn in folder.read_turns(item) if turn.completion]) for item in answers} == {CALLS}
    assert "President number" in folder.read_page(answers["1"].pages[SOURCE.url])
    assert again.manifest.system.fleet
    finished = RunRequest("drb-race", data, tmp_path / "other", reports=tmp_path / "reports.jsonl", fleet=True)
    with pytest.raises(InvalidInput, match="leave --fleet out"):
        await run_benchmark(settings, finished, told.append, deployment)


async def test_a_brief_in_place_of_what_the_model_wrote_is_the_systems_answer(house: WholeProduct, tmp_path: Path) -> None:
    data, told = write_benchmark(tmp_path / "data"), list[EvaluationProgress]()
    wanted = RunRequest("drb-race", data, tmp_path / "out", ids=("1",), fleet=True)
    deployment = Deployment(Fleets(TenantDatabase(house.database), house.gateway), house.database)
    async with serve_model_stub(ModelStub()) as stub, house.start_worker(AGENTS):
        settings = Settings.model_validate({"llm_base_url": stub.base_url, "llm_model": "toy", "home": tmp_path / "home"})
        with act_for(Tenant(LOCAL_ORGANISATION)):
            ran = await run_benchmark(settings, wanted, told.append, deployment)
    assert ([scores.item for scores in ran.scores], told[-1].problem) == (["1"], "")
