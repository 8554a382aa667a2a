"""`rubrica eval`: a run that is killed and gone on with, its page, and the comparison of two runs."""

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.errors import Conflict, InvalidInput
from app.domain.query import Effort
from app.domain.trajectory import Turn, TurnKind
from app.settings import Settings
from infra.cli.evaluation_commands import compare_folders, show_report
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.support.model_stub_bill import Bill, read_bill
from tests.support.model_stub_faults import Fault
from tests.support.stack import RUBRICA, command_environment
from tests.training.evaluation.small_benchmark import COLLECTION, index_collection, write_benchmark, write_lines
from tests.training.synthesis.recorded_run_folders import write_run
from training.evaluation.harness.answering import sum_stages
from training.evaluation.harness.caps import Caps
from training.evaluation.harness.evaluation_loop import EvaluationProgress
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.manifest import RunManifest
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.starting import FinishedRun, run_benchmark

BEFORE_THE_KILL = 14


async def test_a_killed_run_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    data, bill, out = write_benchmark(tmp_path / "data"), tmp_path / "bill", tmp_path / "run"
    index_collection(tmp_path / "home", tmp_path / "docs")
    async with serve_model_stub(ModelStub(bill=Bill(bill), latency=timedelta(milliseconds=15))) as stub:
        environment = command_environment(
            RUBRICA_LLM_BASE_URL=stub.base_url, RUBRICA_LLM_MODEL="stub", RUBRICA_HOME=str(tmp_path / "home")
        )
        command = [*RUBRICA, "eval", "run", "drb-race", "--data", str(data), "--out", str(out), "--collection", COLLECTION]
        command += ["--effort", "quick", "--demonstration", "--id", "1", "--id", "3"]
        process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=DEVNULL, stderr=DEVNULL)
        while stub.bill.outcomes.get("answered", 0) < BEFORE_THE_KILL:
            assert process.returncode is None
            await asyncio.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        await process.wait()
        kept = {t.digest for item in "13" for t in RunFolder(out).read_turns(item) if t.completion}
        assert len(kept) >= BEFORE_THE_KILL - 8
        with (out / "turns" / "1.jsonl").open("a") as torn:
            torn.write('{"agent": "half a li')
        before = len(list(read_bill(bill)))
        again = await asyncio.create_subprocess_exec(*command, env=environment, stdout=PIPE, stderr=PIPE)
        told, said = await again.communicate()
    assert again.returncode == 0, said.decode()
    asked = [line.key for line in read_bill(bill)]
    assert not kept & set(asked[before:])
    assert "2 to judge" in told.decode()
    assert "[2/2]" in said.decode()
    judged = json.loads((out / "manifest.json").read_text())["judge"]["prompts"]
    assert {name.split("/")[-1] for name in judged} == {"en", "zh"}
    page = (out / "report.html").read_text()
    assert "A demonstration." in page
    assert page.count("<svg") >= 2
    assert "<script" not in page
    answers = RunFolder(out).read_answers()
    assert all(answer.report and answer.usage.model_calls > 3 for answer in answers.values())
    cited = next(answer for answer in answers.values() if answer.pages)
    assert "protect domestic manufactures" in RunFolder(out).read_page(next(iter(cited.pages.values())))


def race_of(points: tuple[int, int]) -> str:
    first, second = points
    scores = [{"criterion": n, "article_1_score": first, "article_2_score": second} for n in (1, 2, 3)]
    return json.dumps({"scores": scores})


def judge(prompt: StubPrompt) -> str | None:
    """Prefers whatever says more."""
    if prompt.step != "race":
        return None
    article = prompt.last.partition("<article_1>")[2].partition("</article_1>")[0]
    return race_of((8, 4) if "long" in article else (4, 6))


async def judged(stub: ModelStub, tmp_path: Path, name: str, reports: dict[int, str], **settings: str) -> FinishedRun:
    rows = [{"id": number, "article": text} for number, text in reports.items()]
    path = write_lines(tmp_path / f"{name}-reports.jsonl", list(rows))
    wanted = RunRequest("drb-race", tmp_path / "data", tmp_path / name, reports=path)
    chosen = Settings.model_validate({"llm_base_url": stub.base_url, "llm_model": "judge", "home": tmp_path / "home", **settings})
    told: list[EvaluationProgress] = []
    return await run_benchmark(chosen, wanted, told.append)


async def test_runs_are_compared_item_by_item_and_only_under_the_same_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_benchmark(tmp_path / "data")
    async with serve_model_stub(ModelStub(answerer=judge)) as stub:
        short = await judged(stub, tmp_path, "short", {1: "brief", 2: "brief", 3: "brief"})
        await judged(stub, tmp_path, "long", {1: "long report", 2: "long report", 3: "a brief report"})
        await judged(stub, tmp_path, "other", {1: "brief", 2: "brief", 3: "brief"}, eval_judge_model="another")
        await judged(stub, tmp_path, "dearer", {1: "brief", 2: "brief", 3: "brief"}, llm_input_price=9.0)
        with pytest.raises(Conflict, match=r"another system"):
            await judged(stub, tmp_path, "short", {1: "rewritten", 2: "brief", 3: "brief"})
    assert [scores.values["overall"] for scores in short.scores] == [pytest.approx(0.4)] * 3
    assert compare_folders(tmp_path / "short", tmp_path / "long", tmp_path / "both.html") == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("overall"))
    assert line.split()[1:4] == ["0.4000", "0.5778", "0.1778"]
    assert "(3 items)" in line
    assert "Second minus first" in (tmp_path / "both.html").read_text()
    assert compare_folders(tmp_path / "short", tmp_path / "dearer", None) == 0, "the same judge at another price"
    with pytest.raises(Conflict, match="differ in judge"):
        compare_folders(tmp_path / "short", tmp_path / "other", None)


async def test_two_writers_of_rubrics_are_compared_under_one_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"pair_id": f"p{n}", "question": f"Q {n}?", "response_a": "good", "response_b": "bad", "majority": -1} for n in range(3)
    ]
    data = write_lines(tmp_path / "pairs.jsonl", rows)
    criteria = [{"title": f"Way {n}", "description": f"Key Criterion: It is sound {n}", "weight": 5} for n in range(7)]

    def answers(prompt: StubPrompt) -> str:
        if prompt.step == "rubric":
            return json.dumps({"criteria": criteria})
        return json.dumps({"rating": 9 if "good" in prompt.last.partition("<report>")[2].partition("</report>")[0] else 2})

    ran = {}
    async with serve_model_stub(ModelStub(answerer=answers)) as stub:
        for name in ("one", "other"):
            given = {"llm_base_url": stub.base_url, "llm_model": name, "eval_judge_model": "judge", "home": tmp_path / "home"}
            wanted = RunRequest("preference", data, tmp_path / name, "generated")
            ran[name] = (await run_benchmark(Settings.model_validate(given), wanted, lambda _: None)).manifest
    assert [one.system.model.name for one in ran.values() if one.system.model] == ["one", "other"]
    assert {one.judge.model.name for one in ran.values() if one.judge.model} == {"judge"}
    assert [*ran["one"].judge.prompts] == ["criterion/v1/en"]
    assert compare_folders(tmp_path / "one", tmp_path / "other", None) == 0
    told = capsys.readouterr().out
    assert "No figure is clearly different. Fewer than 20 items are too few to call two systems different: accuracy" in told


async def test_a_small_judge_scores_by_dimension_and_is_shown_part_of_each_report(tmp_path: Path) -> None:
    write_benchmark(tmp_path / "data")
    shown: list[str] = []

    def by_dimension(prompt: StubPrompt) -> str:
        shown.append(prompt.last)
        insight = {"article_1": 8 if len(shown) == 1 else 9, "article_2": 2 if len(shown) == 1 else 11}
        return json.dumps({"analysis": "so", "insight": insight, "readability": {"article_1": 3, "article_2": 3}})

    reports = write_lines(tmp_path / "r.jsonl", [{"id": n, "article": f"Opening [1] {n}.\n" + "tail " * 90} for n in (1, 2)])
    wanted = RunRequest("drb-race", tmp_path / "data", tmp_path / "run", "dimensions", ids=("1", "2"), reports=reports, at_once=1)
    async with serve_model_stub(ModelStub(answerer=by_dimension)) as stub:
        given = {"llm_base_url": stub.base_url, "llm_model": "judge", "home": tmp_path / "home"}
        settings = Settings.model_validate(given)
        ran = await run_benchmark(settings, replace(wanted, judge_chars=40), lambda _: None)
        with pytest.raises(Conflict, match="another judge"):
            await run_benchmark(settings, wanted, lambda _: None)
    first, second = ran.scores
    assert [first.values[name] for name in ("overall", "insight", "readability")] == pytest.approx([6 / 8.4, 0.8, 0.5])
    assert set(second.missing.values()) == {"race_dimensions: the judge's answer cannot be used"}, "11 is off the scale"
    assert "Opening 1." in shown[0]
    assert shown[0].lower().count("the rest is not shown") == 1, "the reference is short"
    assert shown[0].count("tail") < 10
    assert "insight: reasons; depth\nreadability: is clear" in shown[0]
    assert [*ran.manifest.judge.prompts] == ["race_dimensions/v1/en"]
    assert ran.manifest.judge.most_chars == 40


async def test_what_cannot_be_scored_says_why_and_is_tried_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_benchmark(tmp_path / "data")
    said = {"1": json.dumps({"scores": [{"criterion": 1, "article_1_score": 11, "article_2_score": 1}]}), "2": race_of((5, 5))}

    def answers(prompt: StubPrompt) -> str:
        return said["1" if "justify" in prompt.last else "2"]

    reports = {1: "<b>one</b>", 2: "two"}
    async with serve_model_stub(ModelStub(answerer=answers)) as stub:
        ran = await judged(stub, tmp_path, "run", reports)
        assert [(s.item, s.values.get("overall")) for s in ran.scores] == [("1", None), ("2", pytest.approx(0.5))]
        assert show_report(tmp_path / "run") == 1
        told = capsys.readouterr()
        assert "overall                  0.5000" in told.out
        assert "(1 items)" in told.out
        assert "1: race: the judge's answer cannot be used" in told.err
        assert "3: no answer: the file has no report for it" in told.err
        calls = stub.bill.outcomes["answered"]
        await judged(stub, tmp_path, "run", reports)
        assert stub.bill.outcomes["answered"] == calls


async def test_what_a_system_makes_of_an_empty_account_is_no_answer_and_is_tried_again(tmp_path: Path) -> None:
    write_benchmark(tmp_path / "data")
    index_collection(tmp_path / "home", tmp_path / "docs")
    wanted = RunRequest(
        "drb-race", tmp_path / "data", tmp_path / "run", ids=("1",), collections=(COLLECTION,), demonstration=True
    )
    wanted = replace(wanted, effort=Effort.QUICK)
    told: list[EvaluationProgress] = []
    stub = ModelStub(answerer=judge)
    async with serve_model_stub(stub):
        given = {"llm_base_url": stub.base_url, "llm_model": "stub", "home": tmp_path / "home"}
        settings = Settings.model_validate(given)
        stub.faults.order(Fault.NO_CREDIT, times=1000)
        assert not (await run_benchmark(settings, wanted, told.append)).scores
        assert "top it up" in told[-1].problem
        stub.faults.ordered.clear()
        (scores,) = (await run_benchmark(settings, wanted, told.append)).scores
    assert (scores.item, told[-1].problem) == ("1", "")
    folder = RunFolder(tmp_path / "run")
    turns = [(turn.agent, turn.ordinal) for turn in folder.read_turns("1")]
    assert len(turns) == len(set(turns)), "what was asked during the outage is not counted"
    assert folder.read_answers()["1"].usage.model_calls == sum(turn.completion is not None for turn in folder.read_turns("1"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"benchmark": "nothing"}, "there is no benchmark"),
        ({"variant": "kind"}, "it has strict, official"),
        ({"ids": ("9",)}, "has no item '9'"),
        ({"caps": Caps(calls=8)}, "limit holds a system that runs in this process"),
        ({"data": Path("/nowhere")}, "has no criteria.jsonl"),
        ({"reference": Path("/nowhere.jsonl")}, "/nowhere.jsonl cannot be read"),
        ({"reports": Path("/nowhere.jsonl")}, "cannot be read"),
    ],
)
async def test_what_cannot_be_run_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    write_benchmark(tmp_path / "data")
    reports = write_lines(tmp_path / "r.jsonl", [{"id": 1, "article": "x"}])
    wanted = RunRequest(
        **({"benchmark": "drb-race", "data": tmp_path / "data", "out": tmp_path / "o", "reports": reports} | change)
    )  # type: ignore[arg-type]
    settings = Settings.model_validate({"llm_base_url": "http://127.0.0.1:9/v1", "llm_model": "m", "home": tmp_path})
    with pytest.raises(InvalidInput, match=message):
        await run_benchmark(settings, wanted, lambda _: None)
    assert not (tmp_path / "o" / "manifest.json").exists()


async def test_an_id_that_stands_for_two_items_is_refused(tmp_path: Path) -> None:
    demands = {"idx": 7, "content": {"task": "Why?", "rubric": {"info_recall": ["a cause"]}}}
    write_lines(tmp_path / "tasks_and_rubrics.jsonl", [demands, demands])
    reports = write_lines(tmp_path / "r.jsonl", [{"id": 7, "article": "x"}])
    settings = Settings.model_validate({"llm_base_url": "http://127.0.0.1:9/v1", "llm_model": "m", "home": tmp_path})
    with pytest.raises(InvalidInput, match="the id '7' twice"):
        await run_benchmark(settings, RunRequest("drb2", tmp_path, tmp_path / "o", reports=reports), lambda _: None)


async def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    write_benchmark(tmp_path / "data")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "precious.txt").write_text("mine")
    with pytest.raises(InvalidInput, match="something else"):
        await judged(ModelStub(base_url="http://127.0.0.1:9/v1"), tmp_path, "run", {1: "x"})


def test_a_run_goes_on_where_a_stack_does_not_tell_the_generation_of_an_index(tmp_path: Path) -> None:
    begun = RunFolder(write_run(tmp_path / "run", "m", "react", None, {"Why?": "So."})).read_manifest()

    def searching(**corpora: str) -> RunManifest:
        return begun.model_copy(update={"system": begun.system.model_copy(update={"corpora": corpora})})

    searching(sotu="one").require_same(searching(sotu=""))
    searching(sotu="").require_same(searching(sotu="one"))
    for other in (searching(sotu="two"), searching(papers="one")):
        with pytest.raises(Conflict, match="another system"):
            searching(sotu="one").require_same(other)


def test_the_time_before_a_kill_is_that_of_the_stages_one_after_the_other() -> None:
    def turn(agent: str, ordinal: int, elapsed_s: float) -> Turn:
        return Turn(agent=agent, ordinal=ordinal, kind=TurnKind.MODEL, step="s", digest="", elapsed_s=elapsed_s)

    planned = [turn("plan", 0, 1.0), turn("plan", 1, 4.0)]
    searched = [turn("search/s1", 0, 20.0), turn("search/s2", 0, 30.0), turn("search/s2/state", 0, 10.0)]
    assert sum_stages([*planned, *searched, turn("report/section/1", 0, 6.0)]) == 4 + 30 + 6
    assert sum_stages([]) == 0
