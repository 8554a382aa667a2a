"""The set of a writer's stage: its base is sampled at the stage's server, and the generator that votes trained scores it."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.domain.retraining import StepTask, StepVerdict
from app.domain.served_models import ModelRole, Notation, ServedModel
from app.domain.split import Split
from app.domain.training_stage import THE_EXPORT
from app.settings import Settings
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.training.loop.exam_stage import FORM, WRITER_GATE, make_task, own_set
from tests.training.loop.reader_export import make_question
from tests.training.loop.told_writers import TABLE, in_tags
from tests.training.synthesis.report_rows import make_row
from tests.training.synthesis.set_making import read_rows
from training.loop.set import describe_request, make_stage_set
from training.recipes.config import BaseModelSection
from training.recipes.own_samples import OwnDataSection, read_pairs
from training.synthesis.training_set.folder import SetFolder

PROMPTS = 10
PLAIN = in_tags("# Ashford\n\nThe state paid for the harbour [q1].")
TABLED = in_tags("# Ashford\n\nThe state paid [q1].\n\n" + TABLE.replace("\n", "\n| --- | --- |\n", 1))
RUBRIC = json.dumps(
    {"criteria": [{"title": f"Table {n}", "description": f"Key Criterion: has table {n}.", "weight": 5} for n in range(7)]}
)


@dataclass
class Models:
    """What three servers are asked, and what they answer: the policy at the stage's server, the judge, the generator."""

    asked: list[tuple[str, StubPrompt]] = field(default_factory=list)
    samples: Counter[str] = field(default_factory=Counter)

    def write(self, prompt: StubPrompt) -> str:
        self.asked.append(("policy", prompt))
        self.samples[prompt.last] += 1
        return TABLED if self.samples[prompt.last] % 2 else PLAIN

    def judge(self, prompt: StubPrompt) -> str:
        self.asked.append(("judge", prompt))
        return json.dumps({"reason": "", "rating": 10 if "| --- |" in prompt.last else 1})

    def generate(self, prompt: StubPrompt) -> str:
        self.asked.append(("generator", prompt))
        return in_tags(RUBRIC) if "<answer>" in prompt.messages[0]["content"] else RUBRIC

    def list_names(self, server: str) -> set[str]:
        return {prompt.model for asked, prompt in self.asked if asked == server}


def write_reports(path: Path) -> Path:
    """Write rows of report data, whose questions are not alike."""
    rows = [make_row(make_question(n), documents=[], system_prompt=f"Write a report. {FORM}") for n in range(PROMPTS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def plan_writer(folder: Path, address: str = "http://127.0.0.1:9/v1", **fields: object) -> StepTask:
    """A task of a writer's stage that samples its base for rows of report data, judged by rubrics."""
    task = make_task(folder, ModelRole.WRITER, {"exam.toml": 'kind = "reports"\n'}, WRITER_GATE, address)
    (Path(task.plan) / "recipe.toml").write_text('[model]\nbase = "tiny-random"\n[data]\nsets = ["@set"]\nmax_tokens = 4000\n')
    reports = write_reports(folder / "reports.jsonl")
    assert task.stage is not None
    wanted = {
        "kind": "self-samples",
        "inputs": (str(reports),),
        "options": {"preset": "rubrics", "samples": "2"},
        "least_rows": 3,
        "generator": "rubric",
        **fields,
    }
    return task.model_copy(update={"stage": task.stage.model_copy(update=wanted)})


@pytest.mark.parametrize("notation", Notation)
async def test_samples_of_the_base_are_scored_by_the_rubrics_of_the_generator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notation: Notation
) -> None:
    models = Models()
    async with (
        serve_model_stub(ModelStub(answerer=models.write)) as policy,
        serve_model_stub(ModelStub(answerer=models.judge)) as judge,
        serve_model_stub(ModelStub(answerer=models.generate)) as generator,
    ):
        monkeypatch.setenv("RUBRICA_LLM_BASE_URL", judge.base_url)
        monkeypatch.setenv("RUBRICA_LLM_MODEL", "the product's own")
        monkeypatch.setenv("RUBRICA_HOME", str(tmp_path / "home"))
        task = plan_writer(tmp_path / "cycle", policy.base_url)
        served = ServedModel(name="rubric-v3", address=generator.base_url, notation=notation)
        made = await make_stage_set(task.model_copy(update={"generator": served}), Path(task.folders["set"]))
    assert made.verdict is StepVerdict.DONE, made.detail
    names = {server: models.list_names(server) for server in ("policy", "judge", "generator")}
    assert names == {"policy": {"base"}, "judge": {"the product's own"}, "generator": {"rubric-v3"}}
    rows = read_rows(own_set(task))
    assert len(rows) == PROMPTS
    assert {(row["chosen"], row["rejected"], row["policy"]) for row in rows} == {(TABLED, PLAIN, "base")}
    assert rows[0]["rubric"]["criteria"][0]["title"] == "Table 0"
    origin = SetFolder(own_set(task)).read_manifest().origin
    assert origin.base == {"tiny-random": ""}, "the recipe finds in them samples of its own base"
    assert {role: (used.name, used.codec) for role, used in origin.models.items()}["generator"] == ("rubric-v3", notation)
    section = OwnDataSection(sets=(own_set(task),), max_tokens=4_000)
    assert read_pairs(BaseModelSection(base="tiny-random"), section, Split.TRAIN)


async def test_without_a_generator_nothing_is_made(tmp_path: Path) -> None:
    task = plan_writer(tmp_path)
    made = await make_stage_set(task, Path(task.folders["set"]))
    assert made.verdict is StepVerdict.LACKING
    assert "no model has the role rubric" in made.detail
    assert not own_set(task).exists()


async def test_an_exam_whose_rubrics_nobody_writes_is_told_before_anything_is_made(tmp_path: Path) -> None:
    task = plan_writer(tmp_path, generator=None)
    judge = 'judge = {url = "http://127.0.0.1:9/v1", model = "judge"}'
    (Path(task.plan) / "exam.toml").write_text(f'kind = "reports"\ngenerator = "@rubric"\n{judge}\n')
    assert (await make_stage_set(task, Path(task.folders["set"]))).verdict is StepVerdict.LACKING


async def test_an_input_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBRICA_HOME", str(tmp_path / "home"))
    task = plan_writer(tmp_path / "cycle", inputs=("/srv/no/such/set",), generator=None)
    with pytest.raises(InvalidInput, match="there is no /srv/no/such/set"):
        await make_stage_set(task, Path(task.folders["set"]))


def test_a_request_has_what_the_stage_names(tmp_path: Path) -> None:
    mixed = describe_request(plan_writer(tmp_path / "one", inputs=(THE_EXPORT, "/srv/runs")), Settings(), tmp_path / "set")
    assert mixed.inputs == (tmp_path / "one/check/kept", Path("/srv/runs"))
    said = plan_writer(tmp_path / "two", options={"base": "models/other"})
    assert describe_request(said, Settings(), tmp_path / "set").options["base"] == "models/other"
    graph = plan_writer(tmp_path / "three", kind="graph-queries", inputs=(), collections=("works",), options={}, most_rows=40)
    asked = describe_request(graph, Settings(), tmp_path / "set")
    assert (asked.inputs, asked.corpora, asked.rows, asked.options) == ((), ("works",), 40, {})


def test_a_recipe_without_a_base_has_no_samples(tmp_path: Path) -> None:
    task = plan_writer(tmp_path)
    (Path(task.plan) / "recipe.toml").write_text("[data]\n")
    with pytest.raises(InvalidInput, match=r"names no \[model\] base"):
        describe_request(task, Settings(), tmp_path / "set")
