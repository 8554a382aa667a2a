"""Report data in its long and short form, from a run of MindDR's chain with a stub for a model."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from app.domain.errors import ModelRefused
from app.domain.missing import Missing
from app.domain.query import Language, SystemName
from app.domain.race_rubric import RaceDimension, RaceRubric
from app.domain.writer import Composition
from app.settings import Settings
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.support.training_sets import write_set
from tests.training.evaluation.small_benchmark import index_collection, write_benchmark
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.starting import run_benchmark
from training.synthesis.make_requested_set import make_requested_set
from training.synthesis.report_data.recorded_report import RecordedReportTask, render_report_task
from training.synthesis.report_data.set_recipe import write_reference
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.manifest import TrainingSetManifest
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.prompts.library import PromptLibrary

CRITERIA = [{"criterion": name, "explanation": f"{name} is there", "weight": 0.5} for name in ("reasons", "effects")]
WARES = ("iron", "wool", "cotton", "glass", "paper", "sugar", "hemp", "salt", "lead", "silk", "coal", "tea")
SAID = "Presidents said that the duties protected the young makers of {}."
REFERENCE = "# The tariff\n\n" + " ".join(map(SAID.format, WARES))


def play(reference: str) -> ModelStub:
    """A stub that works as usual, writes rubrics, and writes this reference."""

    def answer(prompt: StubPrompt) -> str | None:
        if prompt.step == "race_weights":
            return json.dumps({"comprehensiveness": 0.4, "insight": 0.3, "instruction_following": 0.2, "readability": 0.1})
        if prompt.step == "race_criteria":
            return json.dumps({"criteria": CRITERIA})
        return reference if "<criteria>\ncomprehensiveness" in prompt.last else None

    return ModelStub(answerer=answer)


async def record_and_make(
    folder: Path, stub: ModelStub, composition: Composition | None = None, passed: Path | None = None
) -> TrainingSetManifest:
    write_benchmark(folder / "data")
    index_collection(folder / "home", folder / "docs")
    async with serve_model_stub(stub) as served:
        settings = Settings.model_validate({"llm_base_url": served.base_url, "llm_model": "stub", "home": folder / "home"})
        wish = RunRequest(
            "drb-race",
            folder / "data",
            folder / "run",
            collections=("small",),
            system=SystemName.MINDDR,
            ids=("1",),
            composition=composition,
        )
        await run_benchmark(settings, wish, lambda _: None)
        inputs = (folder / "run", *([passed] if passed else []))
        request = SetRequest("report-data", folder / "set", 10, inputs=inputs, options={"benchmark": "drb-race"})
        return await make_requested_set(settings, request, lambda _: None)


def read_rows(folder: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for file in folder.glob("*/rows.jsonl") for line in file.read_bytes().splitlines()]


async def test_a_run_gives_a_long_row_with_all_parts_and_a_short_one_without_retrieval(tmp_path: Path) -> None:
    manifest = await record_and_make(tmp_path, play(REFERENCE))
    assert sum(manifest.rows.values()) == 2, manifest.refused
    files = (tmp_path / "set").glob("*/rows.jsonl")
    long, short = (orjson.loads(line) for file in files for line in file.read_bytes().splitlines())
    assert (long["form"], short["form"]) == ("long", "short")
    assert "protect domestic manufactures" in long["retrieval"][0]["text"]
    assert long["outline"]["sections"]
    assert long["reference"].startswith("# ")
    assert (short["retrieval"], short["outline"]["sections"]) == ([], [])
    assert short["reference"].strip() == REFERENCE.strip()
    assert long["rubric"] == short["rubric"]
    assert long["system_prompt"] == short["system_prompt"] != ""
    assert [c["criterion"] for c in long["rubric"]["criteria"]["insight"]] == ["reasons", "effects"]


async def test_the_prompt_of_a_row_is_the_prompt_that_the_product_served(tmp_path: Path) -> None:
    manifest = await record_and_make(tmp_path, play(REFERENCE), Composition.SINGLE_PASS)
    assert sum(manifest.rows.values()) == 2, manifest.refused
    rows = read_rows(tmp_path / "set")
    folder = RunFolder(tmp_path / "run")
    assert folder.read_manifest().system.composition == "single_pass"
    (turn,) = (turn for turn in folder.read_turns("1") if turn.step == "single_pass")
    long, short = sorted(rows, key=lambda row: str(row["form"]))
    fields = RecordedReportTask.model_fields
    task = RecordedReportTask.model_validate({name: long[name] for name in fields})
    language = Language(long["language"])
    assert render_report_task(PromptLibrary.load(), language, long["query"], task) == turn.messages
    assert {text.url for text in task.retrieval} != {""}
    bare = RecordedReportTask.model_validate({name: short[name] for name in fields})
    system, user = render_report_task(PromptLibrary.load(), language, short["query"], bare)
    assert system == turn.messages[0]
    assert "<quote" not in user.content


async def test_a_run_with_section_writers_gives_the_system_prompt_that_one_call_would_have_had(tmp_path: Path) -> None:
    await record_and_make(tmp_path / "sections", play(REFERENCE))
    await record_and_make(tmp_path / "whole", play(REFERENCE), Composition.SINGLE_PASS)
    sets = [read_rows(tmp_path / name / "set") for name in ("sections", "whole")]
    assert len({row["system_prompt"] for rows in sets for row in rows}) == 1


async def test_a_model_that_refuses_the_reference_costs_the_short_row_alone() -> None:
    model, record = ScriptedModel([ModelRefused("the request is not allowed")]), BatchRecord(AnswerStore(), 1)
    kit = Kit(model, {}, record, PromptLibrary.load(), SchemaCodec(), date(2026, 1, 2), lambda: 0.0)
    said = {"criteria": dict.fromkeys(RaceDimension, CRITERIA), "weights": dict.fromkeys(RaceDimension, 0.25)}
    found = await write_reference(kit, "Why tariffs?", RaceRubric.model_validate(said))
    assert isinstance(found, Missing)
    assert "not allowed" in found.reason


async def test_a_reference_that_is_no_report_is_refused_and_the_long_row_stays(tmp_path: Path) -> None:
    manifest = await record_and_make(tmp_path, play("It depends."))
    assert (sum(manifest.rows.values()), manifest.refused) == (1, {"reference": 1})


async def test_beside_a_set_of_trajectories_only_its_runs_become_report_data(tmp_path: Path) -> None:
    passed = write_set(tmp_path / "sft", "trajectories", rows=3)
    assert (await record_and_make(tmp_path / "none", play(REFERENCE), passed=passed)).candidates == 0
    file = next(passed.glob("*/rows.jsonl"))
    file.write_bytes(re.sub(rb'"row-\d+"', b'"run/1"', file.read_bytes(), count=1))
    assert (await record_and_make(tmp_path / "its", play(REFERENCE), passed=passed)).candidates == 2
