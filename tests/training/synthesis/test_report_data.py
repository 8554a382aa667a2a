"""Report data in its long and short form, from a run of MindDR's chain with a stub for a model."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from app.domain.errors import ModelRefused
from app.domain.missing import Missing
from app.domain.query import Language
from app.domain.race_rubric import RaceDimension, RaceRubric
from app.domain.writer import Composition
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.training_sets import write_set
from tests.training.synthesis.stub_runs import (
    CRITERIA,
    REFERENCE,
    describe_home,
    play_report_writer,
    read_writing_turn,
    record_run,
)
from training.evaluation.harness.folder import RunFolder
from training.recipes.report_rl.config import Writer
from training.recipes.report_rl.data import ReportLine, make_task
from training.synthesis.make_requested_set import make_requested_set
from training.synthesis.report_data.recorded_report import RecordedReportTask, render_report_task
from training.synthesis.report_data.set_recipe import ReportForm, write_reference
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.manifest import TrainingSetManifest
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.prompts.library import PromptLibrary


async def record_and_make(
    folder: Path, stub: ModelStub, composition: Composition | None = None, passed: Path | None = None
) -> TrainingSetManifest:
    async with serve_model_stub(stub) as served:
        settings = describe_home(folder, served.base_url)
        await record_run(folder, settings, composition)
        inputs = (folder / "run", *([passed] if passed else []))
        request = SetRequest("report-data", folder / "set", 10, inputs=inputs, options={"benchmark": "drb-race"})
        return await make_requested_set(settings, request, lambda _: None)


def read_rows(folder: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for file in folder.glob("*/rows.jsonl") for line in file.read_bytes().splitlines()]


async def test_a_run_gives_a_long_row_with_all_parts_and_a_short_one_without_retrieval(tmp_path: Path) -> None:
    manifest = await record_and_make(tmp_path, play_report_writer(REFERENCE))
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
    manifest = await record_and_make(tmp_path, play_report_writer(REFERENCE), Composition.SINGLE_PASS)
    assert sum(manifest.rows.values()) == 2, manifest.refused
    rows = read_rows(tmp_path / "set")
    assert RunFolder(tmp_path / "run").read_manifest().system.composition == "single_pass"
    turn = read_writing_turn(tmp_path / "run")
    long, short = sorted(rows, key=lambda row: str(row["form"]))
    fields = RecordedReportTask.model_fields
    task = RecordedReportTask.model_validate({name: long[name] for name in fields})
    language = Language(long["language"])
    assert render_report_task(PromptLibrary.load(), language, long["query"], task) == turn.messages
    assert {text.url for text in task.retrieval} != {""}
    bare = RecordedReportTask.model_validate({name: short[name] for name in fields})
    system, user = render_report_task(PromptLibrary.load(), language, short["query"], bare)
    assert system == turn.messages[0]
    assert "<passage" not in user.content
    assert "[q" not in user.content.partition("<task>")[0]
    tasks = {line.form: make_task(line, Writer.ONE_CALL, PromptLibrary.load()) for line in map(ReportLine.model_validate, rows)}
    assert tasks[ReportForm.LONG].material.prompt == turn.messages, "Report-RL asks what was served"


async def test_a_run_with_section_writers_gives_the_system_prompt_that_one_call_would_have_had(tmp_path: Path) -> None:
    await record_and_make(tmp_path / "sections", play_report_writer(REFERENCE))
    await record_and_make(tmp_path / "whole", play_report_writer(REFERENCE), Composition.SINGLE_PASS)
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
    manifest = await record_and_make(tmp_path, play_report_writer("It depends."))
    assert (sum(manifest.rows.values()), manifest.refused) == (1, {"reference": 1})


async def test_beside_a_set_of_trajectories_only_its_runs_become_report_data(tmp_path: Path) -> None:
    passed = write_set(tmp_path / "sft", "trajectories", rows=3)
    assert (await record_and_make(tmp_path / "none", play_report_writer(REFERENCE), passed=passed)).candidates == 0
    file = next(passed.glob("*/rows.jsonl"))
    file.write_bytes(re.sub(rb'"row-\d+"', b'"run/1"', file.read_bytes(), count=1))
    assert (await record_and_make(tmp_path / "its", play_report_writer(REFERENCE), passed=passed)).candidates == 2
