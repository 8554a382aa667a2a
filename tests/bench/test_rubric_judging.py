"""How far one call over all criteria agrees with a call a criterion."""

import json
import re

import pytest

from app.domain.chat import ChatRequest
from app.domain.report import Report, Section
from app.domain.rubric import Criterion
from bench.rubric_judging import DRB, JudgedReport, compare, load_reports, make_kit, rate_at_once, rate_one_by_one
from workflows.chat_models.scripted import ScriptedModel
from workflows.systems.local_record import LocalRecord

WORDS = ("wool", "silk", "iron")
CRITERIA = tuple(Criterion(title=w, description=f"Important Criterion: speaks of {w}", weight=3) for w in WORDS)
JUDGED = JudgedReport("Why?", Report(title="Trade", sections=(Section(heading="R", body="Wool and iron."),)), CRITERIA)


def rate(request: ChatRequest) -> str:
    """Rate by the words of the report, in either form."""
    said = request.messages[-1].content
    report = said.partition("<report>")[2].partition("</report>")[0].lower()
    ratings = [10 if word in report else 1 for word in re.findall(r"speaks of (\w+)", said)]
    if request.response_schema and request.response_schema.name == "criteria":
        return json.dumps({"ratings": [{"id": n, "rating": rating} for n, rating in enumerate(ratings, 1)]})
    return json.dumps({"rating": ratings[0]})


async def test_both_forms_rate_the_same_pairs() -> None:
    at_once, one_by_one = ScriptedModel(rate), ScriptedModel(rate)
    first = await rate_at_once(JUDGED, make_kit(at_once, LocalRecord("a")))
    second = await rate_one_by_one(JUDGED, make_kit(one_by_one, LocalRecord("b")))
    assert first == second == [1.0, 0.0, 1.0]
    assert (len(at_once.requests), len(one_by_one.requests)) == (1, 3)
    assert compare(first, second) | {"mean_difference": 0} == {
        "pairs": 3,
        "unrated": 0,
        "kappa": 1,
        "weighted_kappa": 1,
        "same_side": 1,
        "mean_difference": 0,
    }


def test_ratings_near_each_other_agree_more_by_weights_and_a_missing_one_counts_nothing() -> None:
    figures = compare([1.0, 0.5, 0.0, None], [1.0, 4 / 9, 0.0, 1.0])
    assert (figures["pairs"], figures["unrated"]) == (3, 1)
    assert figures["same_side"] == pytest.approx(2 / 3)
    assert figures["weighted_kappa"] > 0.95 > figures["kappa"]


@pytest.mark.skipif(not DRB.exists(), reason="the reports of DeepResearch Bench are not here")
def test_a_hundred_pairs_are_read() -> None:
    assert sum(len(judged.criteria) for judged in load_reports()) == 100
