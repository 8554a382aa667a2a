"""The sentences on which a criterion's score rests, as the report says them."""

from typing import Any

import pytest

from app.domain.report import Report, Section
from tests.workflows.agent_kit import make_kit, make_record
from tests.workflows.judging.test_report_verification import PROTECT
from tests.workflows.judging.test_rubric_check import QUERY, RUBRIC, asked, model
from workflows.judging.rubric_check import check_against_rubric, make_scorecard

CITED = f"[[{PROTECT.key}]]"


@pytest.mark.parametrize(
    ("body", "quoted", "sentence"),
    [
        (f"Industry was to be protected {CITED}.", "Industry was to be protected [1].", "Industry was to be protected."),
        (
            f"The **duties** were `high` {CITED}, and rose {CITED}.",
            "The **duties** were `high` [1], and rose [1].",
            "The duties were high, and rose.",
        ),
        (
            f"- Industry, he said, was protected {CITED}.\n- x",
            "Industry, he said, was protected",
            "Industry, he said, was protected.",
        ),
        (f"| who | what |\n|---|---|\n| Clay | He wanted duties {CITED} |", "He wanted duties [1]", "He wanted duties"),
        (f"They burden [12] the farmer {CITED}.", "They burden [12] the farmer [1].", "They burden [12] the farmer."),
        (f"Duties rose twice. Wages rose too {CITED}.", "Duties rose twice. Wages rose too [1].", "Duties rose twice."),
    ],
)
async def test_what_a_judge_copies_is_found_and_an_unchanged_report_is_judged_once(body: str, quoted: str, sentence: str) -> None:
    def rate(demand: str, report: str) -> Any:
        assert quoted in report
        return {"reason": "said", "sentences": [quoted], "rating": 1 if demand == "speculates" else 10}

    chat = model(rate)
    report = Report(title="Tariffs", sections=(Section(heading="Summary", body=body),), quotes=(PROTECT,))
    judge = make_kit(chat, make_record())
    checked = await check_against_rubric(RUBRIC, report, QUERY, judge, None)
    card = await make_scorecard(RUBRIC, checked, checked.report, QUERY, judge)
    assert len(asked(chat, "criteria")) == 1
    assert [item.sentences for item in card.items] == [(sentence,)] * len(card.items)
