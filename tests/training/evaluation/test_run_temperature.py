"""A run at a temperature: every call of its system has it, its manifest says so, and its answers know their questions."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.domain.query import Effort, Language
from app.settings import Settings
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_bill import Bill, read_bill
from tests.training.evaluation.small_benchmark import COLLECTION, QUESTIONS, index_collection, write_benchmark
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.starting import run_benchmark


async def test_all_calls_of_the_system_have_the_temperature_and_the_judge_has_its_own(tmp_path: Path) -> None:
    data = write_benchmark(tmp_path / "data")
    index_collection(tmp_path / "home", tmp_path / "docs")
    for temperature in (None, 0.7):
        folder, bill = RunFolder(tmp_path / f"run {temperature}"), tmp_path / f"bill {temperature}"
        wanted = RunRequest("drb-race", data, folder.path, ids=("1",), effort=Effort.QUICK, collections=(COLLECTION,))
        async with serve_model_stub(ModelStub(bill=Bill(bill))) as stub:
            given = {"llm_base_url": stub.base_url, "llm_model": "stub", "home": tmp_path / "home"}
            settings = Settings.model_validate(given)
            await run_benchmark(settings, replace(wanted, temperature=temperature), lambda _: None)
        as_asked = {turn.digest for turn in folder.read_turns("1") if turn.completion}
        of_system = {line.key for line in read_bill(bill) if line.step != "race"}
        assert as_asked
        assert as_asked.isdisjoint(of_system) if temperature else as_asked <= of_system
        judged = folder.open_judge_answers()
        assert all(judged.get(line.key) for line in read_bill(bill) if line.step == "race")
        judged.close()
        assert folder.read_manifest().system.temperature == temperature
    answer = folder.read_answers()["1"]
    assert (answer.question, answer.language, answer.domain) == (QUESTIONS["1"][2], Language.ENGLISH, "History")


async def test_where_no_system_runs_here_a_temperature_is_refused(tmp_path: Path) -> None:
    data = write_benchmark(tmp_path / "data")
    wanted = RunRequest("drb-race", data, tmp_path / "run", reports=tmp_path / "reports.jsonl", temperature=0.7)
    with pytest.raises(InvalidInput, match="a temperature or a limit holds a system that runs in this process"):
        await run_benchmark(Settings.model_validate({"home": tmp_path / "home"}), wanted, lambda _: None)
