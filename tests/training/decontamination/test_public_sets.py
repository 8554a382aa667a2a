"""Public benchmarks stay out of training sets: found where they lie, in queries and in trained texts, and as recorded runs."""

from datetime import date
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.domain.query import Language
from tests.training.evaluation.small_benchmark import write_lines
from tests.training.synthesis.recorded_run_folders import write_run
from training.decontamination.known_texts import KnownTexts
from training.decontamination.public_sets import find_public_sets, read_public_sets
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.manifest import digest_files
from training.synthesis.public_runs import refuse_public_runs
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.finishing import find_public_set, finish_set
from training.synthesis.training_set.folder import SetFolder
from training.synthesis.training_set.manifest import SetOrigin, TrainingSetManifest
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate, WorkedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from workflows.agents.ports import Record

PUBLIC = "How did the deepening of the harbour of Ashford change the trade in wool between the two shores after 1902?"
PUBLIC_ZH = "新能源汽车电池回收的产业链现状与未来趋势如何影响上游材料价格"


def make_row(query: str = "What do ports cost?", **data: object) -> KeptRow:
    return KeptRow(query=query, topic="ports", language=Language.ENGLISH, documents=(), data=data)


@pytest.fixture
def benchmarks(tmp_path: Path) -> Path:
    """A folder with the questions of DeepResearch Bench, and nothing else that can be read."""
    folder = tmp_path / "benchmarks"
    questions = [{"id": 1, "topic": "t", "language": "en", "prompt": PUBLIC}]
    (folder / "drb-race").mkdir(parents=True)
    write_lines(folder / "drb-race/query.jsonl", questions)
    (folder / "my-notes").mkdir()
    return folder


def test_all_benchmarks_that_lie_in_the_folder_are_found_and_race_needs_no_references(benchmarks: Path) -> None:
    named = find_public_sets(benchmarks)
    assert named == [f"drb-race={benchmarks / 'drb-race'}"]
    public, counts = read_public_sets(named)
    assert counts == {"drb-race": 1}
    assert public.find_set(PUBLIC) == "drb-race"
    assert find_public_sets(benchmarks / "missing") == []


def test_a_reference_that_repeats_a_public_question_is_known_and_chance_is_not() -> None:
    public = KnownTexts()
    public.add("drb", [PUBLIC, PUBLIC_ZH])
    around = "# Report\n\nThe council asked for it. {} The state paid most of it."
    assert find_public_set(public, make_row(reference=around.format(PUBLIC)), ["reference"]) == "drb"
    assert find_public_set(public, make_row(reference=around.format(PUBLIC)), ["rubric"]) == ""
    assert find_public_set(public, make_row(accepted={"text": around.format(PUBLIC_ZH)}), ["accepted"]) == "drb"
    assert (
        find_public_set(
            public, make_row(reference=around.format("It changed the trade in wool between the two shores.")), ["reference"]
        )
        == ""
    )


def test_of_a_conversation_only_what_the_policy_wrote_is_compared() -> None:
    public = KnownTexts()
    public.add("drb", [PUBLIC])
    for trained, found in ((True, "drb"), (False, "")):
        messages = [{"role": "assistant", "content": f"I was asked: {PUBLIC}", "trained": trained}]
        assert find_public_set(public, make_row(conversations=[{"messages": messages}]), ["conversations"]) == found


def finish(folder: Path, against: dict[str, int]) -> TrainingSetManifest:
    async def refuse(_: object, __: Record) -> KeptRow | RefusedCandidate:
        raise AssertionError

    origin = SetOrigin(kind="k", wanted=1, seed=0, code="c", today=date(2026, 1, 2), against=against)
    with SetFolder(folder).open_work(origin):
        worked = [WorkedCandidate(candidate="one", kept=make_row())]
        return finish_set(SetFolder(folder), origin, SetRecipe((), refuse), worked, KnownTexts(), {})


def test_a_set_that_was_compared_with_nothing_says_so(tmp_path: Path) -> None:
    (notice,) = finish(tmp_path / "one", {}).notices
    assert notice.startswith("the rows were compared with no public benchmark")
    assert "compared with no public benchmark" in (tmp_path / "one/report.html").read_text()
    assert finish(tmp_path / "two", {"drb-fact": 1}).notices == []


def test_runs_over_a_public_benchmark_are_refused_unless_named_or_of_readers_own_queries(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", "m", "react", None, {PUBLIC: "It grew."})
    with pytest.raises(InvalidInput, match=r"answers drb-race, a public benchmark.*--option benchmark=drb-race"):
        refuse_public_runs(SetRequest("trajectories", tmp_path / "set", 1, inputs=(run,)))
    refuse_public_runs(SetRequest("trajectories", tmp_path / "set", 1, inputs=(run,), options={"benchmark": "drb-race"}))
    mined = write_lines(tmp_path / "query.jsonl", [{"id": "1", "prompt": "Ours?"}])
    manifest = RunFolder(run).read_manifest().model_copy(update={"data": digest_files([mined])})
    (run / "manifest.json").write_text(manifest.model_dump_json())
    refuse_public_runs(SetRequest("trajectories", tmp_path / "set", 1, inputs=(run,), options={"mined": str(mined)}))


@pytest.mark.parametrize("benchmark", ["graph-set", "graph-requests", "tree-set"])
def test_runs_over_sets_that_were_made_here_are_taken(tmp_path: Path, benchmark: str) -> None:
    run = write_run(tmp_path / "run", "m", "deeprubric", None, {PUBLIC: "It grew."})
    (run / "manifest.json").write_text(
        RunFolder(run).read_manifest().model_copy(update={"benchmark": benchmark}).model_dump_json()
    )
    refuse_public_runs(SetRequest("trajectories", tmp_path / "set", 1, inputs=(run,)))
