"""A cycle of two stages: votes train a generator of rubrics, whose version scores the writer's samples. The sets are real."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from uuid import UUID

import pytest

from app.domain.retraining import CycleEventType
from app.domain.served_models import ModelRole, ServedModel
from app.models.service.serving import register_settings
from app.models.storage import aliases
from tests.support.adapter_server import BASE, AdapterServer, serve_adapters
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.training.loop.exam_stage import WRITER_GATE
from tests.training.loop.test_writer_set import PLAIN, PROMPTS, RUBRIC, TABLED, write_reports
from tests.training.loop.told_writers import in_tags
from tests.training.synthesis.set_making import read_rows
from tests.workflows.durable.retraining.toy_cycle import ANN, STAGE, ToyLoop
from tests.workflows.durable.whole_product import WholeProduct


def judge(prompt: StubPrompt) -> str:
    return json.dumps({"reason": "", "rating": 10 if "| --- |" in prompt.last else 1})


class Speaking:
    """The server of the cycle: its base writes two reports of a question in turn, every adapter writes rubrics."""

    def __init__(self) -> None:
        self.samples = Counter[str]()

    def __call__(self, model: str, messages: Sequence[str]) -> str:
        if model != BASE:
            return in_tags(RUBRIC)
        self.samples[messages[-1]] += 1
        return TABLED if self.samples[messages[-1]] % 2 else PLAIN


@pytest.fixture
async def server() -> AsyncIterator[AdapterServer]:
    async with serve_adapters() as serving:
        serving.speech = Speaking()
        yield serving


@pytest.fixture
async def judging(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[ModelStub]:
    """The model of the settings, which judges."""
    async with serve_model_stub(ModelStub(answerer=judge)) as stub:
        monkeypatch.setenv("RUBRICA_LLM_BASE_URL", stub.base_url)
        monkeypatch.setenv("RUBRICA_LLM_MODEL", "the product's own")
        monkeypatch.setenv("RUBRICA_HOME", str(tmp_path / "home"))
        yield stub


@pytest.fixture
def loop(house: WholeProduct, tmp_path: Path, server: AdapterServer) -> ToyLoop:
    return ToyLoop(house, tmp_path / "loop", server)


def write_plan(loop: ToyLoop, folder: Path, needs: str = "") -> Path:
    reports = write_reports(folder / "reports.jsonl")
    writer = STAGE.replace('"rubric"', '"writer"', 2).replace("preference-pairs", "self-samples")
    writer = writer.replace("gate.toml", "writer-gate.toml").replace("exam.toml", "writer-exam.toml")
    writer += (
        f'inputs = ["{reports}"]\ngenerator = "rubric"\noptions = {{{{preset = "rubrics", samples = "2"}}}}\nleast_rows = 3\n'
    )
    path = folder / "plan-weekly"
    path.mkdir()
    (path / "writer-gate.toml").write_text(WRITER_GATE)
    (path / "writer-exam.toml").write_text('kind = "reports"\n')
    written = loop.write_plan(stages=STAGE + writer + needs)
    (path / "recipe.toml").write_text('[model]\nbase = "tiny-random"\n')
    return written


def list_generators(loop: ToyLoop, cycle: UUID) -> dict[str, str]:
    """Return what writes rubrics in the writer's steps, by the address of their tasks."""
    folders = [loop.folder / str(cycle) / f"writer.{kind}" for kind in ("set", "exam")]
    return {folder.name: json.loads((folder / "task.json").read_text())["generator"]["name"] for folder in folders}


async def test_the_version_of_the_rubric_stage_scores_the_samples_of_the_writer(
    loop: ToyLoop, tmp_path: Path, judging: ModelStub
) -> None:
    loop.script(writer_set={"real": True})
    async with loop.worker():
        cycle = await loop.cycles.start(write_plan(loop, tmp_path, 'needs = "rubric"\n'), ANN)
        await loop.wait_for(cycle.id, "promoted")
    held = {role: alias.served for role, alias in (await aliases.list_all(loop.house.database)).items()}
    assert set(held) == {ModelRole.RUBRIC, ModelRole.WRITER}
    generator = held[ModelRole.RUBRIC]
    assert list_generators(loop, cycle.id) == {"writer.set": generator, "writer.exam": generator}
    assert loop.server.asked.count(generator) == PROMPTS + 1, "a rubric for each question, and the probe"
    rows = read_rows(loop.folder / str(cycle.id) / "writer.set" / "set")
    assert {(row["chosen"], row["rejected"], row["policy"]) for row in rows} == {(TABLED, PLAIN, BASE)}


async def test_after_a_refusal_the_present_holder_writes_the_rubrics(loop: ToyLoop, tmp_path: Path, judging: ModelStub) -> None:
    """The stage does not say that it needs the other one."""
    holder = ServedModel(name=BASE, address=loop.server.url)
    await register_settings(loop.house.database, [holder])
    loop.script(rubric_gate={"verdict": "refused", "detail": "the accuracy fell"})
    async with loop.worker():
        cycle = await loop.cycles.start(write_plan(loop, tmp_path), ANN)
        await loop.wait_for(cycle.id, "promoted")
    assert list_generators(loop, cycle.id) == {"writer.set": BASE, "writer.exam": BASE}


async def test_where_nobody_writes_rubrics_the_stage_says_so(loop: ToyLoop, tmp_path: Path, judging: ModelStub) -> None:
    loop.script(rubric_gate={"verdict": "refused", "detail": "the accuracy fell"}, writer_set={"real": True})
    async with loop.worker():
        cycle = await loop.cycles.start(write_plan(loop, tmp_path), ANN)
        ended = await loop.wait_for(cycle.id, "refused")
    assert "writer.set: nobody writes rubrics" in ended.detail
    finished = await loop.list_told(cycle.id, CycleEventType.STEP_FINISHED)
    assert finished[-1]["step"] == "writer.set"
