"""The reward of a report, worked by hand (MDR Eq. 10 to 12), with a judge behind a socket."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date

import pytest

from app.domain.missing import Missing
from app.domain.race_rubric import RaceRubric
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from training.recipes.report_rl.drafts import count_reference_citations
from training.recipes.report_rl.relevance import ask_relevance, compare_words
from training.recipes.report_rl.reward import ReportJudging, SampledReport, judge_report
from training.rewards.composites import ReportWeights
from training.rewards.quote_citations import list_quote_citations, swap_letters
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.chat_models.endpoint import ModelEndpoint
from workflows.chat_models.openai_compatible import connect_model
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord

SOURCES = {"q1": "The pier at Ashford was built of oak in 1850.", "q4": "The harbour of Brindle froze in the winter of 1855."}
RUBRIC = RaceRubric.model_validate(
    {
        "weights": {"insight": 0.75, "readability": 0.25},
        "criteria": {
            "insight": [{"criterion": "reasons", "weight": 0.5}, {"criterion": "effects", "weight": 0.5}],
            "readability": [{"criterion": "order", "weight": 1.0}],
        },
    }
)
REPORT = "# Ports\n\nThe pier at Ashford was built of oak [q1]. The harbour of Brindle froze in winter [q4]."
SAMPLE = SampledReport("What of the ports?", REPORT, True, SOURCES, RUBRIC, "# Ports\n\nAll is well [1]. It froze [2].", 2)
POINTS = {1: (6, 4), 2: (2, 8), 3: (9, 3)}
RACE_BY_HAND = (0.75 * 4 + 0.25 * 9) / (0.75 * (4 + 6) + 0.25 * (9 + 3))
"""Insight: the means of 6 and 2, and of 4 and 8; readability: 9 and 3."""

RULES = ReportJudging(None, compare_words, race=False, weights=ReportWeights(1.0, 0.1))


def play_judge(prompt: StubPrompt) -> str | None:
    """Give the planned points; a quote is relevant to a statement of the same port."""
    if prompt.step == "race":
        scores = [{"criterion": n, "article_1_score": own, "article_2_score": other} for n, (own, other) in POINTS.items()]
        return json.dumps({"scores": scores})
    if prompt.step == "cited_relevance":
        return json.dumps({"analysis": "", "result": "yes" if prompt.last.count("Ashford") != 1 else "no"})
    return None


@pytest.fixture
async def judge() -> AsyncIterator[Kit]:
    async with (
        serve_model_stub(ModelStub(answerer=play_judge)) as served,
        connect_model(ModelEndpoint(served.base_url, "stub")) as chat,
    ):
        yield Kit(chat, {}, LocalRecord("judge"), PromptLibrary.load(), SchemaCodec(), date(2026, 11, 2), lambda: 0.0)


async def test_a_good_report_has_race_and_both_bonuses(judge: Kit) -> None:
    reward = await judge_report(SAMPLE, ReportJudging(judge, ask_relevance))
    assert reward.parts["race"] == pytest.approx(RACE_BY_HAND)
    assert reward.parts["race_insight"] == pytest.approx(4 / 10)
    assert (reward.parts["citation"], reward.parts["format"]) == (0.1, 0.0)
    assert reward.value == pytest.approx(RACE_BY_HAND + 0.1)


async def test_the_judge_sees_numbers_where_the_writer_cited_ids(judge: Kit) -> None:
    await judge_report(SAMPLE, ReportJudging(judge, compare_words))
    (asked,) = [turn for turn in judge.record.trajectory.turns if turn.step == "race"]  # type: ignore[attr-defined]
    assert "built of oak [1]. The harbour of Brindle froze in winter [2]." in asked.messages[-1].content
    assert "[q1]" not in asked.messages[-1].content


@pytest.mark.parametrize(
    ("text", "reference", "citation", "violations"),
    [
        (REPORT, 2, 0.1, 0),
        (REPORT.replace("[q1]", "[q4]"), 2, -0.1, 0),  # one of two is valid
        (REPORT.replace("[q4]", ""), 2, -1.0, 0),  # one is less than .7 x 2
        (REPORT.replace("[q4]", "[q9]"), 2, -0.1, -1),  # no such quote: counted, not valid, and left over for the reader
        (REPORT.replace("[q4]", "[p4]"), 2, -1.0, -1),  # a notation that nobody asked for
        (REPORT.replace("[q1]", "[q1][q1]"), 2, 0.1, 0),  # said twice, counted once
        (REPORT + "\n\n1. one\n3. three", 2, 0.1, -1),
        (REPORT + "\n\n[q1] It stands.", 2, 0.1, -1),  # it floats before its words, and supports none
        ("It was so.", 0, 0.0, 0),  # the short form: nothing to cite, and nothing earned
        ("", 0, -1.0, -3),
        ("...", 2, -1.0, -3),
    ],
)
async def test_citations_and_violations_by_hand(text: str, reference: int, citation: float, violations: int) -> None:
    sample = replace(SAMPLE, text=text, reference_citations=reference)
    reward = await judge_report(sample, RULES)
    assert (reward.parts["citation"], reward.parts["format"]) == (citation, violations)
    assert reward.value == pytest.approx(citation + 0.1 * violations)


async def test_a_judge_that_gives_no_answer_leaves_no_reward(judge: Kit) -> None:
    rubric = RUBRIC.model_copy(update={"weights": {"readability": 1.0}})
    reward = await judge_report(replace(SAMPLE, rubric=rubric), ReportJudging(judge, compare_words))
    assert isinstance(reward.value, Missing)
    assert reward.parts["citation"] == 0.1


async def test_a_part_without_its_tag_is_one_violation() -> None:
    reward = await judge_report(replace(SAMPLE, enclosed=False), RULES)
    assert (reward.parts["format"], reward.parts["violation_tag"]) == (-1.0, 1.0)


def test_letters_change_places_in_citations_only() -> None:
    assert swap_letters('In Q3 2024 [q3, q7] and (p2) and <cite id="q1">x</cite>') == (
        'In Q3 2024 [p3, p7] and (q2) and <cite id="p1">x</cite>'
    )
    assert list_quote_citations("Rates rose [q3][q7]. Prices fell (q1).") == [
        ("Rates rose", "q3"),
        ("Rates rose", "q7"),
        ("Prices fell.", "q1"),
    ]


def test_citations_of_a_reference_are_its_numbers() -> None:
    assert count_reference_citations("Rates rose [1, 3]. Prices fell in [1994] [2].\n\nIt was so.") == 3
    assert count_reference_citations("It was so.") == 0
