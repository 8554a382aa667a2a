"""`bench.brief` takes files of questions that others wrote."""

import json
from pathlib import Path

from bench.brief import QuestionScore, count_figures, name_home
from bench.brief_questions import read_questions


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
