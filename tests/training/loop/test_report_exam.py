"""The exam of a writer: two models on a real server write held-out reports; rules, citations and a judge decide."""

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.domain.retraining import StepTask, StepVerdict
from app.domain.served_models import ModelRole, Notation, ServedModel
from tests.support.adapter_server import AdapterServer, serve_adapters
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.training.loop.exam_stage import (
    DEEPER,
    PAID,
    TRAINED,
    WRITER_GATE,
    make_report_row,
    make_task,
    own_set,
    read_scores,
    take_exam_and_gate,
    write_sided_set,
)
from tests.training.loop.told_writers import SOUND, let_candidate_write
from training.loop.exam import examine, list_trained
from training.loop.exams.kept_answers import EXAM_ANSWERS
from training.loop.exams.probes import ADDRESS

EXAM = 'kind = "reports"\n'
ROWS = 28


@pytest.fixture
async def server() -> AsyncIterator[AdapterServer]:
    async with serve_adapters() as serving:
        yield serving


@pytest.fixture
def task(tmp_path: Path, server: AdapterServer) -> StepTask:
    made = make_task(tmp_path, ModelRole.WRITER, {"exam.toml": EXAM}, WRITER_GATE, server.url)
    write_sided_set(own_set(made), "report-data", map(make_report_row, range(ROWS)))
    return made


async def test_a_writer_that_makes_fewer_faults_passes(task: StepTask, server: AdapterServer) -> None:
    server.speech = let_candidate_write(SOUND)
    examined, decided = await take_exam_and_gate(task)
    assert decided.verdict is StepVerdict.DONE, decided.detail
    assert examined.figures["items"] == ROWS - TRAINED
    means = examined.figures["means"]
    assert means["citation_support"]["after"] == means["sound_tables"]["after"] == means["report_rules"]["after"] == 1.0
    assert means["sound_tables"]["before"] < 0.5
    assert server.loaded == {}, "the candidate is unloaded after its exam"


async def test_a_killed_exam_goes_on_and_asks_for_nothing_twice(task: StepTask, server: AdapterServer) -> None:
    (Path(task.plan) / "exam.toml").write_text(f"{EXAM}at_once = 2\n")  # of both models: four calls are under way
    die = asyncio.Event()

    def say_some(model: str, messages: Sequence[str]) -> str:
        if len(server.asked) > ROWS // 2:
            die.set()
        return let_candidate_write(SOUND)(model, messages)

    server.speech = say_some
    folder = Path(task.folders["exam"])
    killed = asyncio.create_task(examine(task, folder))
    await die.wait()
    killed.cancel()
    with pytest.raises(asyncio.CancelledError):
        await killed
    with closing(sqlite3.connect(folder / EXAM_ANSWERS)) as kept:
        [stored] = kept.execute("SELECT count(*) FROM answers").fetchone()
    assert stored >= ROWS // 2 - 4
    server.asked.clear()
    examined = await examine(task, folder)
    assert len(server.asked) == 2 * (ROWS - TRAINED) - stored
    assert examined.figures["items"] == ROWS - TRAINED
    server.asked.clear()
    assert await examine(task, folder) == examined
    assert server.asked == []


async def test_both_writers_are_asked_at_the_temperature_at_which_they_are_to_serve(
    task: StepTask, server: AdapterServer
) -> None:
    server.speech = let_candidate_write(SOUND)
    assert task.stage is not None
    warm = task.stage.server.model_copy(update={"temperature": 0.7})
    await take_exam_and_gate(task.model_copy(update={"stage": task.stage.model_copy(update={"server": warm})}))
    assert len(set(server.asked)) == 2
    assert server.temperatures == {0.7}


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (f"# Ashford\n\n{PAID[:-1]} [q2]. {DEEPER[:-1]} [q1].", "citation_support"),
        (f"# Ashford\n\n{PAID} {DEEPER} It was so [q1].", "citation_support"),
        (
            f"{SOUND}\n\n" + " ".join(f"Pier {n} of Ashford was built of oak, and nobody knows when [q1]." for n in range(9)),
            "cost",
        ),
        ("", "citation_support"),
    ],
    ids=["wrong sources", "hardly cited", "longer", "nothing"],
)
async def test_a_spoilt_writer_is_refused(task: StepTask, server: AdapterServer, report: str, told: str) -> None:
    server.speech = let_candidate_write(report)
    _, decided = await take_exam_and_gate(task)
    assert decided.verdict is StepVerdict.REFUSED
    assert re.search(rf"{told} \([^)]*\): the opposite is shown", decided.detail)


async def test_a_held_out_question_that_any_stage_learned_from_refuses(
    task: StepTask, server: AdapterServer, tmp_path: Path
) -> None:
    """The set of the stage before has one of the questions for training, under an id of its own."""
    server.speech = let_candidate_write(SOUND)
    write_sided_set(tmp_path / "rubric.set" / "set", "report-data", map(make_report_row, range(6)), first=ROWS - 2)
    asked = task.model_copy(update={"sets": (*task.sets, str(tmp_path / "rubric.set"))})
    _, decided = await take_exam_and_gate(asked)
    assert decided.verdict is StepVerdict.REFUSED
    assert "held-out items or queries are in the training set" in decided.detail
    other = [row.id for row in list_trained(asked) if row.id not in [f"row-{number}" for number in range(TRAINED)]]
    assert other, "rows of another set are named apart: all sets number theirs alike"
    assert all(name.startswith(f"{tmp_path}/rubric.set/set/row-") for name in other)


class Judge:
    """A judge who likes tables, padding and whoever tells it what to say. It writes one rubric for every question."""

    def __init__(self, fooled: str = "") -> None:
        self.fooled = fooled

    def answer(self, prompt: StubPrompt) -> str | None:
        if prompt.step == "rubric":
            said = [{"title": f"Table {n}", "description": f"Key Criterion: has table {n}.", "weight": 5} for n in range(7)]
            return json.dumps({"criteria": said})
        if prompt.step == "criterion":
            liked = "| --- |" in prompt.last or (self.fooled and self.fooled in prompt.last)
            return json.dumps({"reason": "", "rating": 10 if liked else 1})
        return None


TABLED = f"{SOUND}\n\n| what | value |\n| --- | --- |\n| depth | four metres [q2] |\n"


@pytest.mark.parametrize("fooled", ["", ADDRESS])
async def test_a_judge_marks_by_the_rubric_of_the_question_and_spoilt_reports_too(
    task: StepTask, server: AdapterServer, fooled: str
) -> None:
    server.speech = let_candidate_write(TABLED)
    async with serve_model_stub(ModelStub(answerer=Judge(fooled).answer)) as stub:
        asked = f'url = "{stub.base_url}"\nmodel = '
        exam = f'{EXAM}most_items = 8\nprobe_each = 4\n[judge]\n{asked}"judge"\n[generator]\n{asked}"generator"\n'
        (Path(task.plan) / "exam.toml").write_text(exam)
        examined, _ = await take_exam_and_gate(task)
    means = examined.figures["means"]
    assert means["report_quality"] == {"before": 0.0, "after": 1.0}
    gained = {name.removeprefix("probe/"): found for name, found in means.items() if name.startswith("probe/")}
    assert set(gained) == {"padded", "keyword_stuffed", "rubric_echo", "citation_stuffed", "judge_addressing"}
    assert gained["judge_addressing"] == {"before": 1.0 if fooled else 0.0, "after": 0.0}
    assert gained["padded"] == {"before": 0.0, "after": 0.0}
    assert sum(score["metric"] == "probe/padded" for score in read_scores(task)) == 2


async def test_the_generator_of_the_stage_writes_the_rubrics_of_its_exam(task: StepTask, server: AdapterServer) -> None:
    server.speech = let_candidate_write(TABLED)
    asked: list[str] = []

    def answer(prompt: StubPrompt) -> str | None:
        asked.append(f"{prompt.step} by {prompt.model}")
        return Judge().answer(prompt)

    async with serve_model_stub(ModelStub(answerer=answer)) as stub:
        judge = f'judge = {{url = "{stub.base_url}", model = "judge"}}\n'
        (Path(task.plan) / "exam.toml").write_text(f'{EXAM}most_items = 4\ngenerator = "@rubric"\n{judge}')
        model = ServedModel(name="rubric-v2", address=stub.base_url, notation=Notation.SCHEMA)
        examined, _ = await take_exam_and_gate(task.model_copy(update={"generator": model}))
        with pytest.raises(InvalidInput, match="no model has that role"):
            await take_exam_and_gate(task)
    assert examined.figures["means"]["report_quality"] == {"before": 0.0, "after": 1.0}
    assert asked.count("rubric by rubric-v2") == 4
    assert set(asked) == {"rubric by rubric-v2", "criterion by judge"}


async def test_a_judge_without_a_rubric_is_refused(task: StepTask) -> None:
    (Path(task.plan) / "exam.toml").write_text(f'{EXAM}[judge]\nurl = "http://127.0.0.1:9/v1"\nmodel = "judge"\n')
    with pytest.raises(InvalidInput, match=r"name the model that writes them under \[generator\]"):
        await take_exam_and_gate(task)


async def test_rows_of_self_samples_are_asked_with_the_prompt_that_they_keep(tmp_path: Path, server: AdapterServer) -> None:
    task = make_task(tmp_path, ModelRole.WRITER, {"exam.toml": EXAM}, WRITER_GATE, server.url)
    shown = f'<document title="Ashford" url="u">\n<passage id="q1">\n{PAID}\n</passage>\n</document>'
    prompt = [{"role": "system", "content": "Write a report."}, {"role": "user", "content": f"<evidence>\n{shown}\n</evidence>"}]
    rows = [{"prompt": [prompt[0], prompt[1] | {"content": f"{prompt[1]['content']} {n}"}], "samples": []} for n in range(ROWS)]
    write_sided_set(own_set(task), "self-samples", rows)
    told: list[Sequence[str]] = []

    def speak(model: str, messages: Sequence[str]) -> str:
        told.append(messages)
        return f"# Ashford\n\n{PAID[:-1]} [q1]."

    server.speech = speak
    examined, _ = await take_exam_and_gate(task)
    assert examined.figures["means"]["citation_support"] == {"before": 1.0, "after": 1.0}
    assert {tuple(each) for each in told} == {tuple(m["content"] for m in row["prompt"]) for row in rows[TRAINED:]}
