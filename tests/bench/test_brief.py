"""`bench.brief` takes files of questions that others wrote."""

import json
from pathlib import Path

import pytest

from bench.brief import QuestionScore, count_figures, name_home
from bench.brief_questions import HALVES, read_questions
from bench.gathered_questions import load_gathered
from bench.labelled_sets import DATA


def test_questions_without_an_answer_alone_have_their_own_figure() -> None:
    scores = [QuestionScore(None, 0.0, 0.0, 0.0, says_nothing, False) for says_nothing in (True, False)]
    assert count_figures(scores) == {"right_nothing": 0.5}


def test_the_brief_is_held_against_the_better_baseline() -> None:
    figures = count_figures([QuestionScore(0.6, 0.1, 0.3, 0.2, False, False)])
    assert (figures["bm25_share"], figures["over_bm25"]) == (0.1, 2.0)


def test_a_question_whose_gold_is_null_has_no_answer(tmp_path: Path) -> None:
    rows = [{"question": "Why?", "gold": None, "docs": None}, {"question": "When?", "gold": ["In May."], "docs": "notes"}]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    assert [each.is_answerable for each in read_questions(file, tmp_path)] == [False, True]


def test_folders_of_one_name_and_a_changed_folder_have_homes_of_their_own(tmp_path: Path) -> None:
    names = []
    for parent in ("a", "b"):
        folder = tmp_path / parent / "docs"
        folder.mkdir(parents=True)
        (folder / "notes.txt").write_text("The office moved.")
        names.append(name_home(folder))
    (tmp_path / "b" / "docs" / "notes.txt").write_text("The office moved again.")
    names.append(name_home(tmp_path / "b" / "docs"))
    assert len({*names}) == 3


@pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not at hand")
def test_every_excerpt_of_the_gathered_folders_stands_in_a_file_of_its_folder(tmp_path: Path) -> None:
    for half in HALVES:
        questions = [question for each in load_gathered(half, tmp_path).values() for question in each]
        assert {question.is_answerable for question in questions} == {True, False}
        for question in questions:
            assert question.docs is not None
            texts = [file.read_text(encoding="utf-8") for file in question.docs.iterdir()]
            assert all(len(gold) >= 12 and any(gold in text for text in texts) for gold in question.gold), question.text
