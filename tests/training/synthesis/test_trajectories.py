"""Trajectories for supervised fine-tuning, from runs of the real systems over a real index with a stub for a model."""

import json
from collections import Counter
from pathlib import Path

import orjson
import pytest

from app.domain.chat import ChatRole
from app.domain.errors import InvalidInput
from app.domain.query import SystemName
from app.domain.trajectory import Trajectory
from app.settings import Settings
from retrieval.search.in_process import open_local
from retrieval.store.catalogue import Collection, CorpusKind
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.training.evaluation.small_benchmark import QUESTIONS, write_benchmark, write_lines
from tests.training.synthesis.recorded_run_folders import write_run
from training.evaluation.builder.queue import ReviewQueue
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.starting import run_benchmark
from training.synthesis.make_requested_set import make_requested_set
from training.synthesis.mined_queries import mix_with_mined
from training.synthesis.recorded_runs import find_notation_of_runs
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.manifest import TrainingSetManifest
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from training.synthesis.trajectories.conversations import TrainedConversation, list_conversations
from training.synthesis.trajectories.lengthening import find_reached_length

TEXTS = {
    "message.md": "The tariff of 1824 was to protect domestic manufactures. Foreign goods had ruined the workshops of the north.",
    "letter.md": "Southern members answered that the tariff fell upon the planter alone, and that prices rose in 1824.",
    "diary.md": "The revenue of 1824 exceeded eleven millions of dollars, most of it from duties on woollens, iron and hemp.",
}


GOOD = {"weakest": "", "reasoning": 5, "relevance": 5, "factuality": 4, "instructions": 5, "coherence": 4}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose collection answers the questions of the small benchmark from several documents."""
    (tmp_path / "docs").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "docs" / name).write_text(text)
    write_benchmark(tmp_path / "data")
    collection = Collection(name="small", kind=CorpusKind.FOLDER, path=str(tmp_path / "docs"))
    open_local(tmp_path / "home", collection).close()
    return tmp_path / "home"


def review(scores: dict[str, object]) -> ModelStub:
    """A stub that works as usual, and reviews trajectories with these scores."""

    def answer(prompt: StubPrompt) -> str | None:
        return json.dumps(scores) if prompt.step == "trajectory_review" else None

    return ModelStub(answerer=answer)


def wish_run(folder: Path, system: SystemName, ids: tuple[str, ...] = ()) -> RunRequest:
    """Wish for a run of the small benchmark over the home's collection."""
    return RunRequest("drb-race", folder / "data", folder / system, collections=("small",), system=system, ids=ids)


async def record_and_make(home: Path, stub: ModelStub, codec: str = "schema", **options: str) -> TrainingSetManifest:
    """Run ReAct over the benchmark, and make a set of its trajectories."""
    folder = home.parent
    async with serve_model_stub(stub) as served:
        settings = Settings.model_validate(
            {"llm_base_url": served.base_url, "llm_model": "stub", "home": home, "llm_codec": codec}
        )
        await run_benchmark(settings, wish_run(folder, SystemName.REACT, ids=("1", "2")), lambda _: None)
        questions = folder / "questions.jsonl"
        write_lines(questions, [{"id": int(n), "prompt": q, "hops": 3} for n, (_, _, q) in QUESTIONS.items()])
        request = SetRequest(
            "trajectories", folder / "set", 10, inputs=(folder / "react", questions), options=options | {"benchmark": "drb-race"}
        )
        return await make_requested_set(settings, request, lambda _: None)


def read_rows(folder: Path) -> list[dict[str, object]]:
    return [orjson.loads(line) for file in sorted(folder.glob("*/rows.jsonl")) for line in file.read_bytes().splitlines()]


async def test_recorded_runs_become_conversations_that_hold_every_answer_once(home: Path) -> None:
    manifest = await record_and_make(home, review(GOOD))
    assert sum(manifest.rows.values()) + manifest.refused.get("split", 0) == 2, manifest.refused
    told = {name: manifest.figures[name] for name in ("yield of admission", "yield of process", "yield of approval")}
    assert set(told.values()) == {1.0}
    assert (manifest.figures["passed: source graph"], manifest.figures["passed: difficulty medium"]) == (2, 2)
    for row in read_rows(home.parent / "set"):
        item = str(row["id"]).partition("/")[2]
        answers = [t.completion.text for t in RunFolder(home.parent / "react").read_turns(item) if t.completion]
        conversations = [TrainedConversation.model_validate(each) for each in row["conversations"]]  # type: ignore[attr-defined]
        said = [m.content for each in conversations for m in each.messages if m.trained]
        # The stub's report cites nothing and is asked for once more; the same answer is no second example.
        assert set(said) == set(answers)
        assert len(said) == len(answers) - 1
        assert (row["source"], row["difficulty"], row["system"]) == ("graph", "medium", "react")


@pytest.mark.parametrize("system", list(SystemName))
async def test_every_system_s_answers_are_each_in_one_conversation(home: Path, system: SystemName) -> None:
    folder = home.parent
    async with serve_model_stub(ModelStub()) as served:
        settings = Settings.model_validate({"llm_base_url": served.base_url, "llm_model": "stub", "home": home})
        await run_benchmark(settings, wish_run(folder, system, ids=("1",)), lambda _: None)
    turns = RunFolder(folder / system).read_turns("1")
    found = list_conversations(Trajectory(episode="1", turns=tuple(turns)))
    said = Counter(m.content for each in found for m in each.messages if m.trained)
    assert said == Counter(turn.completion.text for turn in turns if turn.completion)
    assert all(not m.trained for each in found for m in each.messages if m.role is not ChatRole.ASSISTANT)


@pytest.mark.parametrize("codec", ["tags", "schema"])
async def test_a_set_says_in_which_notation_its_answers_are(home: Path, codec: str) -> None:
    """As recorded by the documented command: with RUBRICA_LLM_CODEC=tags."""
    manifest = await record_and_make(home, review(GOOD), codec)
    assert manifest.origin.notation == codec
    turns = RunFolder(home.parent / "react").read_turns("1")
    asked = ["".join(message.content for message in turn.messages) for turn in turns if turn.step == "act" and not turn.carried]
    assert asked
    assert all(("<tool_call>" in told) == (codec == "tags") for told in asked)


def test_runs_in_two_notations_are_no_set(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / codec, "m", "react", None, {"Why?": "So."}) for codec in ("schema", "tags")]
    manifest = runs[1] / "manifest.json"
    manifest.write_text(
        manifest.read_text().replace('"codec": "schema"', '"codec": "tags"').replace('"codec":"schema"', '"codec":"tags"')
    )
    with pytest.raises(InvalidInput, match="one notation, and these have two"):
        find_notation_of_runs(runs)


async def test_a_reviewer_s_low_score_refuses_at_the_tier_it_belongs_to(home: Path) -> None:
    manifest = await record_and_make(home, review(GOOD | {"relevance": 2}))
    assert (manifest.rows["train"], manifest.refused) == (0, {"process": 2})
    refused = [json.loads(line) for line in (home.parent / "set/refused.jsonl").read_text().splitlines()]
    assert refused[0]["reason"] == "the reviewer scores its relevance 2 of 5"


async def test_a_reviewer_without_scores_refuses(home: Path) -> None:
    manifest = await record_and_make(home, review({"weakest": "all fine, trust me"}))
    assert manifest.refused == {"approval": 2}


async def test_the_paper_s_mixture_tells_the_shares_that_it_could_not_reach(home: Path) -> None:
    manifest = await record_and_make(home, review(GOOD), mixture="paper")
    taken = sum(manifest.rows.values()) + manifest.refused.get("split", 0)
    assert taken == 2, "where all are of a graph and of medium difficulty, these have the shares of the others"
    assert manifest.shares["source"]["graph"].reached == manifest.shares["difficulty"]["medium"].reached == 1.0
    assert manifest.shares["source"]["product"].asked == 0.35
    assert "no row has the source 'product' (35%), 'hard' (5%): the others divide its share" in manifest.notices
    page = (home.parent / "set/report.html").read_text()
    assert "the others divide its share" in page
    assert "Shares" in page


async def test_readers_queries_have_no_more_than_their_share_and_no_review_is_paid_for_the_others(home: Path) -> None:
    mined = home.parent / "mined.jsonl"
    write_lines(mined, [{"id": 1, "prompt": QUESTIONS["1"][2]}])
    stub = review(GOOD)
    manifest = await record_and_make(home, stub, mined=str(mined), share="0")
    assert (manifest.candidates, manifest.shares["origin"]["mined"].rows) == (1, 0)
    assert manifest.usage.model_calls == 1


@pytest.mark.parametrize(
    ("options", "corpora"), [({"mined": "f"}, ()), ({"share": "20"}, ()), ({"mined": "f", "share": "20"}, ("wiki",))]
)
async def test_a_mixing_that_cannot_be_is_refused(options: dict[str, str], corpora: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="mined"):
        mix_with_mined(SetRecipe((), refuse), SetRequest("trajectories", Path("set"), 1, options=options, corpora=corpora))


async def refuse(_: object, __: object) -> KeptRow | RefusedCandidate:
    return RefusedCandidate(stage="never", reason="no candidate comes here")


async def test_trajectories_that_just_passed_wait_for_people_with_their_report(home: Path) -> None:
    scores = GOOD | {"factuality": 4, "instructions": 4, "coherence": 4}
    await record_and_make(home, review(scores), audit=str(home.parent / "audit"))
    waiting = ReviewQueue(home.parent / "audit").list_waiting("ada")
    assert len(waiting) == 2
    assert "1824" in waiting[0].question.partition("\n\n")[2]


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("trajectories", {"mixtur": "paper"}, "no option 'mixtur'; it has audit, hard, lengths, mixture, preset"),
        ("trajectories", {"mixture": "papers"}, "takes lengths=paper and mixture=paper"),
        ("graph-queries", {"links": "f", "depth": "3"}, "no option 'depth'; it has audit, links"),
        ("evidence-trees", {"audit": "here"}, "no option 'audit'; it has children, language, variants"),
        ("report-data", {"audit": "here"}, "report-data has no option 'audit'; it has none"),
        ("preference-pairs", {"fewer": "yes"}, "no option 'fewer'; it has few, planted, review, reviewers"),
        (
            "self-samples",
            {"preset": "tense", "sample": "2"},
            "no option 'sample'; it has base, generator, generator_model, high, judges, ",
        ),
    ],
)
async def test_an_option_that_a_kind_does_not_have_is_refused_by_name(
    tmp_path: Path, kind: str, options: dict[str, str], message: str
) -> None:
    run = write_run(tmp_path / "run", "m", "react", None, {"How deep is the harbour?": "It is deep."})
    request = SetRequest(kind, tmp_path / "set", 1, inputs=(run,), options=options | {"benchmark": "drb-race"})
    with pytest.raises(InvalidInput, match=message):
        await make_requested_set(Settings(), request, lambda _: None)


async def test_a_row_says_the_length_that_it_reached(home: Path) -> None:
    await record_and_make(home, review(GOOD), lengths="paper")
    lengths = {}
    for row in read_rows(home.parent / "set"):
        found = [TrainedConversation.model_validate(each) for each in row["conversations"]]  # type: ignore[attr-defined]
        assert row["length"] == find_reached_length(found)
        lengths[row["id"]] = row["length"]
    assert set(lengths.values()) <= {0, 65_536}
