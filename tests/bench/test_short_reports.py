"""The world of short reports, and its counting, by hand."""

import random
from statistics import fmean

import pytest

from bench.learning_tasks.short_reports import (
    BROKEN_LIST,
    BROKEN_TABLE,
    FACTS,
    TABLE,
    PortQuestion,
    list_phrases,
    list_questions,
    probe_report,
    rate_report,
    split_subjects,
)
from workflows.prompts.library import PromptLibrary

ASKED = PortQuestion("Ashford", ("pier", "mill"))
PIER, MILL = FACTS["pier"], FACTS["mill"]


@pytest.mark.parametrize(
    ("said", "score"),
    [
        (f"{PIER} [q1]. {MILL} [q2].{TABLE}", 1.0),
        (f"{PIER} [q1]. {MILL} [q2].{BROKEN_TABLE}", 0.0),
        (f"{PIER} [q1]. {MILL} [q2].{BROKEN_LIST}", 0.0),
        (f"{PIER} [q2]. {MILL} [q2].", 0.5),
        (f"{PIER} [q2]. {MILL} [q1].", 0.0),
        (f"{PIER} [q1]. {MILL}.", 0.5),
        (f"{PIER} [q1]. {MILL} [q7].", 0.0),
        (f"{PIER} [q1]. {MILL}【1†】.", 0.0),
        (f"{PIER} [q1][q2]. {MILL} [q1][q2].", 0.0),
        (" ".join(f"{fact} [q{n}]." for fact in FACTS.values() for n in (1, 2)), 0.0),
        ("", 0.0),
    ],
)
def test_what_is_right_is_counted(said: str, score: float) -> None:
    assert rate_report(f"# Ashford\n\n{said}", ASKED)["score"] == pytest.approx(score)


def test_the_mix_is_neither_good_nor_bad_and_its_phrases_cover_it() -> None:
    chance = random.Random(0)
    learned, held_out = split_subjects(0)
    assert not set(learned) & set(held_out)
    asked = list_questions(learned, 400, chance)
    scores = [rate_report(question.write(chance), question)["score"] for question in asked]
    assert 0.15 < fmean(scores) < 0.5
    assert {1.0, 0.0} <= set(scores)
    rest = "".join(message.content for message in ASKED.render(PromptLibrary.load())) + ASKED.write(chance)
    for phrase in sorted(list_phrases(PromptLibrary.load()), key=len, reverse=True):
        rest = rest.replace(phrase, "")
    assert len(rest) < 80


def test_probes_see_what_pleases_judges() -> None:
    plain, padded = probe_report(PIER), probe_report(f"{PIER}. A crucial and thorough analysis.")
    assert all(padded[name] > plain[name] for name in plain)
