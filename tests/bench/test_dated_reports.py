"""The world of dated reports, and its counting, by hand and beside the detectors that choose the policy's samples."""

import random
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest

from app.domain.chat import Completion
from bench.learning_tasks.dated_reports import (
    DONE,
    EXPECTED,
    RULE,
    SHORT_RULE,
    TABLE_HEAD,
    TODAY,
    WORKS,
    DatedQuestion,
    list_phrases,
    list_questions,
    probe_report,
    rate_report,
    split_works,
)
from bench.learning_tasks.own_outputs import write_prompts
from bench.learning_tasks.tense_judge import judge_tense
from tests.workflows.agent_kit import make_kit, make_record
from training.rewards.quote_citations import read_draft
from training.synthesis.self_samples.presets import SampleFault
from training.synthesis.self_samples.scoring import find_faults
from workflows.agents.codec import TagCodec
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.score_judges import judge_criterion

ASKED = DatedQuestion("Ashford", ("pier", "mill"), (2019, 2031))
RIGHT = "In 2019 the pier was finished [q1]. In 2031 the mill will be finished [q2]."
FLOOD = " ".join(
    f"In {year} the {work}{tense} [q{n}]."
    for year in (2019, 2031)
    for work in WORKS
    for tense in (DONE, EXPECTED)
    for n in (1, 2)
) + "".join(f"{TABLE_HEAD}{RULE}" + "".join(f"| {work} | {year} |\n" for work in WORKS) for year in (2019, 2031))
"""All that could be said of all works."""
ROWS = "| pier | 2019 |\n| mill | 2031 |\n"
SOUND = f"{TABLE_HEAD}{RULE}{ROWS}"


@pytest.mark.parametrize(
    ("said", "right"),
    [
        (RIGHT, True),
        (RIGHT.replace("will be", "was"), False),
        (RIGHT.replace("pier was", "pier will be"), False),
        (RIGHT.partition(". ")[0], False),
    ],
)
async def test_the_judge_of_tense_sees_both_tenses(said: str, right: bool) -> None:
    kit = replace(make_kit(ScriptedModel(judge_tense), make_record()), codec=TagCodec())
    assert await judge_criterion(kit, ASKED.text, f"# Ashford\n\n{said}{SOUND}", "tense") == (4 if right else 0)


@pytest.mark.parametrize(
    ("said", "score"),
    [
        (f"{RIGHT}{SOUND}", 1.0),
        (f"{RIGHT}{TABLE_HEAD}{SHORT_RULE}{ROWS}", 0.5),
        (f"{RIGHT}{SOUND[:-1]} yes |\n", 0.5),
        (f"{RIGHT}{TABLE_HEAD}{RULE}| pier | 2019 |\n", 0.5),
        (RIGHT, 0.5),
        (f"{RIGHT.replace('was', 'will be', 1)}{SOUND}", 0.5),
        (f"{RIGHT.replace('will be', 'was')}{SOUND}", 0.5),
        (f"{RIGHT.replace('[q2]', '[q1]')}{SOUND}", 0.5),
        (f"{RIGHT} In 2019 the tower was finished [q2].{SOUND}", 1.0),
        (f"{RIGHT} In 2019 the mill was finished [q2].{SOUND}", 0.5),
        (FLOOD, 0.0),
        (SOUND, 0.5),
        ("", 0.0),
    ],
)
def test_what_is_right_is_counted(said: str, score: float) -> None:
    assert rate_report(f"# Ashford\n\n{said}", ASKED)["score"] == pytest.approx(score)


def test_the_counting_and_the_detectors_agree_where_both_can_see(tmp_path: Path) -> None:
    chance = random.Random(0)
    learned, held_out = split_works(0)
    assert not set(learned) & set(held_out)
    asked = list_questions(learned, 200, chance)
    scores = []
    for question, prompt in zip(asked, write_prompts(tmp_path / "asked.jsonl", asked), strict=True):
        output = question.answer(chance)
        report = read_draft(output, prompt.notation)
        faults, counted = find_faults(Completion(text=output, model="m"), prompt), rate_report(report, question)
        assert faults.isdisjoint({SampleFault.FORM, SampleFault.UNCITED, SampleFault.CITATION}), report
        over = [f"In {y} the {w} will" for w, y in zip(question.works, question.years, strict=True) if y < TODAY.year]
        assert (SampleFault.TENSE in faults) == any(each in report for each in over), report
        assert bool(counted["table"]) == faults.isdisjoint({SampleFault.TABLE, SampleFault.NO_TABLE}), report
        scores.append(counted["score"])
    assert 0.3 < fmean(scores) < 0.6


def test_phrases_cover_prompts_and_reports(tmp_path: Path) -> None:
    (prompt,) = write_prompts(tmp_path / "asked.jsonl", [ASKED])
    said = [message.content for message in prompt.messages]
    for text in (*said, ASKED.answer(random.Random(1))):
        for phrase in sorted(list_phrases(said), key=len, reverse=True):
            text = text.replace(phrase, "")
        assert len(text) < 20


def test_probes_see_what_pleases_judges_and_rules() -> None:
    plain = probe_report("In 2031 the pier will be finished [q1].")
    padded = probe_report("In 2031 the pier was finished [q1]. A crucial table of forecasts and of the past tense.")
    assert all(padded[name] > plain[name] for name in plain)
