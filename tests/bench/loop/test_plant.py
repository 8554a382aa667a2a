"""What the loop's bench plants: questions, reports, a reader's eye, and rubrics."""

import json
import random
from datetime import date

import pytest

from app.domain.missing import Missing
from app.domain.rubric_score import Aggregation
from bench.learning_tasks.rubric_grammar import DEMANDS, write_item
from bench.loop.base import ask_for_rubric, write_loose_rubric
from bench.loop.drafts import score_rubric
from bench.loop.judging import judge_as_reader
from bench.loop.plant import (
    FEATURES,
    PLAIN_WRITER,
    choose_feature,
    choose_writer,
    list_questions,
    read_wanted,
    see_features,
    write_report,
)
from bench.loop.spoiled import SPOILED
from rubrica_client.models import Criterion, Origin, Rubric
from tests.support.model_stub_answers import StubPrompt
from training.decontamination.near_copies import WordOverlap
from training.recipes.rubric_generator.reward import PreferredPair, measure_difference, read_written_rubric
from training.recipes.rubric_generator.rule_judge import RuleJudge

QUESTIONS = list_questions(120, 0)


def test_no_question_is_a_near_copy_of_another() -> None:
    assert not list(WordOverlap([question.text for question in QUESTIONS]).list_pairs())


def test_questions_say_what_their_readers_want() -> None:
    assert all(read_wanted(question.text) == question.wanted for question in QUESTIONS)


def test_of_two_reports_one_has_what_is_wanted_and_readers_see_it() -> None:
    for question in QUESTIONS:
        features = [choose_feature(writer, question.text) for writer in (PLAIN_WRITER, choose_writer(question.text))]
        assert sum(feature in question.wanted for feature in features) == 1
        for feature in features:
            assert see_features(write_report(question.text, feature, ["q1"])) == {feature}


def test_the_evaluator_scores_what_is_asked_above_the_rest() -> None:
    question = next(each for each in QUESTIONS if each.wanted == {"table"})
    for feature in FEATURES:
        item = Criterion.model_validate_json(write_item(feature, "Key", 5))
        rubric = Rubric(criteria=[item], origin=Origin.MODEL)
        assert score_rubric(rubric, question) == (1.0 if feature == "table" else 0.0)


def test_the_served_prompt_is_what_the_first_model_is_taught_on() -> None:
    asked = ask_for_rubric(QUESTIONS[0].text, date(2026, 1, 1))
    assert [message.role for message in asked] == ["system", "user"]
    assert QUESTIONS[0].text in asked[1].content


@pytest.mark.parametrize("kind", SPOILED)
def test_spoiled_rubrics_can_be_read(kind: str) -> None:
    assert not isinstance(read_written_rubric(SPOILED[kind](random.Random(0), QUESTIONS[0])), Missing)


def test_most_rubrics_of_the_first_model_can_be_read() -> None:
    read = [read_written_rubric(write_loose_rubric(random.Random(n), QUESTIONS[0])) for n in range(50)]
    assert sum(not isinstance(rubric, Missing) for rubric in read) >= 30


async def test_a_poisoned_rubric_prefers_the_other_report() -> None:
    for question in QUESTIONS[:12]:
        rubric = read_written_rubric(SPOILED["poisoned"](random.Random(0), question))
        assert not isinstance(rubric, Missing)
        features = min(question.wanted), min({*FEATURES} - question.wanted)
        accepted, rejected = (write_report(question.text, feature, ["q1"]) for feature in features)
        pair = PreferredPair(question.text, accepted, rejected)
        difference = await measure_difference(rubric, pair, RuleJudge(), Aggregation.BOUNDED)
        assert not isinstance(difference, Missing)
        assert difference < 0


@pytest.mark.parametrize(("demand", "rating"), [("table", 10), ("headings", 1), ("tone", 5), ("stuffed", 5)])
def test_the_judge_of_the_exam_looks_at_the_report(demand: str, rating: int) -> None:
    report = write_report("Compare them?", "table", ["q1"])
    shown = f"<report>\n{report}\n</report>\n\nThe description:\nKey Criterion: {DEMANDS[demand]}"
    said = judge_as_reader(StubPrompt("criterion", [{"role": "user", "content": shown}], None, ""))
    assert said is not None
    assert json.loads(said)["rating"] == rating
    assert judge_as_reader(StubPrompt("", [{"role": "user", "content": shown}], None, "")) is None
