"""A benchmark from readers' questions, from the queue to the second version."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from app.domain.benchmark import CandidateQuestion, Decision, QuestionDomain, Review, Screening
from app.domain.errors import Conflict, InvalidInput, NotFound
from app.domain.query import Language
from app.settings import Settings
from infra.cli.evaluation import app
from tests.training.evaluation.small_benchmark import write_benchmark, write_lines
from training.decontamination.known_texts import KnownTexts
from training.decontamination.public_sets import read_public_sets
from training.evaluation.benchmarks.catalogue import load_benchmark
from training.evaluation.builder.publishing import SetManifest, publish
from training.evaluation.builder.queue import ReviewQueue
from training.evaluation.builder.screening import screen
from training.evaluation.harness.example import BenchmarkInput
from training.evaluation.harness.manifest import ModelUsed
from training.evaluation.harness.models import RunModels, ServedModel
from workflows.chat_models.scripted import ScriptedModel

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ASKED = {
    "q1": "How did tariffs on wool change what farmers in the north could buy?",
    "q2": "How did presidents justify the tariff of 1824?",
    "q3": "What time is it?",
    "q4": "Why does Bob Miller owe me money?",
    "q5": "1890年关税法对农民和工人各有什么长期影响？",
}


def candidates(*names: str) -> dict[str, CandidateQuestion]:
    def made(name: str) -> CandidateQuestion:
        language = Language.CHINESE if name == "q5" else Language.ENGLISH
        return CandidateQuestion(id=name, question=ASKED[name], language=language, asked_on=date(2026, 1, int(name[1])))

    return {name: made(name) for name in names or ASKED}


def verdict(question: str) -> str:
    personal, deep = "Bob" in question, "time" not in question
    said = {"reason": "r", "depth": 4 if deep else 1, "domain": "history", "self_contained": "yes"}
    return json.dumps(said | {"personal": "yes" if personal else "no"})


def queue_in(folder: Path) -> ReviewQueue:
    queue = ReviewQueue(folder)
    queue.open()
    return queue


async def screened(folder: Path) -> tuple[ReviewQueue, ScriptedModel]:
    queue = queue_in(folder)
    assert queue.collect(candidates(), date(2026, 1, 1)) == (5, 0)
    model = ScriptedModel(lambda request: verdict(request.messages[-1].content))
    served = ServedModel(model, ModelUsed(name="m", codec="schema"))
    await screen(Settings(), queue, RunModels(None, served), 2, lambda _: None)
    return queue, model


async def test_only_deep_questions_about_nobody_reach_the_experts(tmp_path: Path) -> None:
    queue, model = await screened(tmp_path / "set")
    assert [candidate.id for candidate in queue.list_waiting("ada")] == ["q1", "q2", "q5"]
    queue.keep_review(Review(id="q1", reviewer="bea", decision=Decision.ACCEPT))
    assert [candidate.id for candidate in queue.list_waiting("ada")] == ["q2", "q5", "q1"], "fewest reviews first"
    assert "q1" not in [candidate.id for candidate in queue.list_waiting("bea")]
    asked = len(model.requests)
    await screen(Settings(), queue, RunModels(None, ServedModel(model, ModelUsed(name="m", codec="schema"))), 2, lambda _: None)
    assert len(model.requests) == asked, "what has a verdict is not asked about again"
    assert (tmp_path / "set").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "set" / "candidates.jsonl").stat().st_mode & 0o777 == 0o600
    with pytest.raises(NotFound, match="no question 'q9'"):
        queue.keep_review(Review(id="q9", reviewer="ada", decision=Decision.ACCEPT))


async def test_a_version_has_what_is_accepted_agreed_to_and_new(tmp_path: Path) -> None:
    queue, _ = await screened(tmp_path / "set")
    for reviewer in ("ada", "bea"):
        for name in ("q1", "q2", "q5"):
            queue.keep_review(Review(id=name, reviewer=reviewer, decision=Decision.ACCEPT, domain=QuestionDomain.POLITICS))
    data, out = write_benchmark(tmp_path / "drb"), tmp_path / "published"
    public, counts = read_public_sets([f"drb-fact={data}"])
    assert counts == {"drb-fact": 3}

    def version(*agreeing: str, needed: int = 2) -> SetManifest:
        return publish(queue, candidates(*agreeing), public, counts, out, needed, NOW, "key")

    with pytest.raises(InvalidInput, match="no question is accepted"):
        version(needed=3)
    # Ada was the first to accept it, and says so anew: her wording is the last word.
    reworded = Review(
        id="q5", reviewer="ada", decision=Decision.ACCEPT, domain=QuestionDomain.POLITICS, question="1890年关税法影响如何？"
    )
    queue.keep_review(reworded)
    for killed in ("v1", "v1.part"):
        (out / killed).mkdir(parents=True)
        (out / killed / "query.jsonl").write_text("{")
    (out / "v1.part" / "manifest.json").write_text("{")
    first = version()
    assert [path.name for path in out.iterdir()] == ["v1"]
    assert (first.version, first.items, first.known, first.domains) == (1, 2, {"drb-fact": 1}, {"politics": 2})
    found = load_benchmark("drb-fact").read(BenchmarkInput(out / "v1"))
    assert [(e.id, e.question, e.domain) for e in found] == [
        ("q1", ASKED["q1"], "politics"),
        ("q5", reworded.question, "politics"),
    ]
    row = json.loads((data / "criteria.jsonl").read_text().splitlines()[0])
    write_lines(out / "v1" / "criteria.jsonl", [row | {"id": "q1"}])
    write_lines(out / "v1" / "reference.jsonl", [{"id": "q1", "article": "Wool was dear."}])
    assert [e.id for e in load_benchmark("drb-race").read(BenchmarkInput(out / "v1"))] == ["q1"], "ids that are no numbers"
    with pytest.raises(Conflict, match="version 1 has the same"):
        version()
    second = version("q2", "q5")
    assert (second.version, second.items, second.withdrawn) == (2, 1, ("q1",))
    assert all("farmers in the north" not in path.read_text() for path in (tmp_path / "set").glob("*.jsonl")), (
        "forgotten here too"
    )
    queue.keep_review(Review(id="q5", reviewer="cyd", decision=Decision.REJECT))
    with pytest.raises(InvalidInput, match="no question is accepted"):
        version("q2", "q5")
    with pytest.raises(InvalidInput, match="name the public sets"):
        publish(queue, candidates(), public, {}, out, 2, NOW, "key")


def test_an_expert_rewords_rejects_and_stops(tmp_path: Path) -> None:
    queue = queue_in(tmp_path)
    queue.collect(candidates("q1", "q2", "q5"), date(2026, 1, 2))
    for name in ("q2", "q5"):
        queue.keep_screening(Screening(id=name, depth=4, domain=QuestionDomain.HISTORY, self_contained=True))
    said = "x\ne\nHow was the tariff justified?\nlaw\nr\ntoo narrow\n"
    done = CliRunner().invoke(app, ["build", "review", str(tmp_path), "--reviewer", "ada"], input=said)
    assert done.exit_code == 0, done.output
    assert "0 left for ada" in done.output
    reworded, rejected = queue.read_reviews()
    assert (reworded.question, reworded.domain, reworded.decision) == ("How was the tariff justified?", "law", "accept")
    assert (rejected.id, rejected.decision, rejected.note) == ("q5", "reject", "too narrow")
    assert "q1" not in queue.read_candidates(), "asked before the day from which on is collected"


def test_small_changes_do_not_hide_a_public_question() -> None:
    public = KnownTexts()
    public.add(
        "set",
        [
            "How did the presidents of the United States justify tariffs before 1900?",
            "新能源汽车电池回收的产业链现状与未来趋势如何",
        ],
    )
    assert public.find_set("Please say: how did presidents of the united states justify tariffs — and to whom?") == "set"
    assert public.find_set("请分析新能源汽车电池回收的产业链现状与未来趋势") == "set"
    assert public.find_set("justify tariffs before 1900") == "set"
    assert public.find_set("How did the parliaments of united Italy justify tariffs after 1900?") == ""
    assert public.find_set("新能源汽车的充电网络如何布局") == ""


@given(st.lists(st.text(alphabet="abcde ", min_size=1, max_size=60), min_size=1, max_size=5))
def test_every_public_question_knows_itself(questions: list[str]) -> None:
    public = KnownTexts()
    public.add("set", questions)
    assert all(public.find_set(question) == "set" for question in questions)


def test_a_set_must_be_named_and_have_questions(tmp_path: Path) -> None:
    other = write_lines(tmp_path / "own.jsonl", [{"query": "Why?"}])
    assert read_public_sets([f"own={other}"])[1] == {"own": 1}
    for text, message in (
        ("own", "names no set"),
        (f"own={write_lines(tmp_path / 'e.jsonl', [{'x': 1}])}", "none of the fields"),
    ):
        with pytest.raises(InvalidInput, match=message):
            read_public_sets([text])
