"""What recorded runs say of their questions, and which of them a preset takes."""

from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.domain.query import Language
from tests.training.synthesis.recorded_run_folders import answer_with, describe_run
from training.evaluation.harness.example import QuestionOrigin
from training.evaluation.harness.folder import RunFolder
from training.synthesis.asked_questions import GRAPH, HARD, PRODUCT, AskedQuestion
from training.synthesis.recorded_runs import RecordedRun, list_runs
from training.synthesis.set_request import SetRequest
from training.synthesis.trajectories.presets import choose_runs

QUESTION = "Why was the harbour deepened?"


def record(path: Path, system: str = "deeprubric", hops: int = 0, **manifest: object) -> Path:
    """Record a run of one question."""
    folder = RunFolder(path)
    with folder.open_run(describe_run("m", system, None, [QUESTION]).model_copy(update=manifest)):
        folder.keep_answer(answer_with("It was [1].", "0", QUESTION, folder).model_copy(update={"hops": hops}))
    return path


def read_run(path: Path, known: AskedQuestion | None = None) -> RecordedRun:
    return next(iter(list_runs([path], {"0": known} if known else {})))


def test_a_run_over_a_made_set_knows_the_kind_and_hops_of_its_questions(tmp_path: Path) -> None:
    graph = read_run(record(tmp_path / "g", hops=3, questions=QuestionOrigin.GRAPH))
    tree = read_run(record(tmp_path / "t", questions=QuestionOrigin.TREE))
    assert (graph.question.source, graph.question.hops, graph.question.difficulty) == (GRAPH, 3, "medium")
    assert tree.question.source == "tree"


def test_a_run_over_a_public_benchmark_is_known_as_one(tmp_path: Path) -> None:
    run = read_run(record(tmp_path / "r", questions=QuestionOrigin.PUBLIC))
    readers = read_run(record(tmp_path / "p", questions=QuestionOrigin.READERS))
    assert (run.question.source, readers.question.source) == ("public", PRODUCT)


def test_a_file_adds_what_it_knows_and_does_not_make_readers_of_a_tree(tmp_path: Path) -> None:
    path = record(tmp_path / "t", questions=QuestionOrigin.TREE)
    known = AskedQuestion(id="0", text="The short form?", language=Language.ENGLISH, source=PRODUCT, topic="ports")
    found = read_run(path, known).question
    assert (found.text, found.source, found.topic) == (QUESTION, "tree", "ports")
    assert read_run(path, known.model_copy(update={"source": HARD})).question.source == HARD


def test_the_cold_start_takes_runs_of_deeprubric_s_agent_on_queries_of_trees(tmp_path: Path) -> None:
    wanted = record(tmp_path / "a", questions=QuestionOrigin.TREE)
    others = [record(tmp_path / "b", "react", questions=QuestionOrigin.TREE), record(tmp_path / "c")]
    request = SetRequest("trajectories", tmp_path / "set", 200, options={"preset": "deeprubric"})
    assert [run.name for run in choose_runs(list_runs([wanted, *others], {}), request)] == ["a"]
    for options, rows in (({"preset": "paper"}, 100), ({"preset": "deeprubric"}, 201)):
        with pytest.raises(InvalidInput, match="200 or fewer"):
            choose_runs((), SetRequest("trajectories", tmp_path, rows, options=options))


@pytest.mark.parametrize("variant", ["all", "validation", "test"])
def test_a_run_on_questions_that_a_made_set_holds_out_is_no_material(tmp_path: Path, variant: str) -> None:
    for number, origin in enumerate((QuestionOrigin.GRAPH, QuestionOrigin.TREE)):
        with pytest.raises(InvalidInput, match="eval run graph-set --variant train"):
            read_run(record(tmp_path / f"{number}", questions=origin, benchmark="graph-set", variant=variant))
    assert read_run(record(tmp_path / "t", questions=QuestionOrigin.GRAPH, variant="train"))
    assert read_run(record(tmp_path / "p", questions=QuestionOrigin.PUBLIC, variant=variant))
