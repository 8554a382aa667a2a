"""Plays a judge for the stub: in form and within the scale, drawn by the request. What it says measures nothing."""

import re
from collections.abc import Callable
from typing import Any

from tests.support.model_stub_answers import StubPrompt

CRITERION = re.compile(r"^(\d+)\. ", re.MULTILINE)
STATEMENT = re.compile(r'<s id="(\d+)"')


def judge_race(prompt: StubPrompt) -> Any:
    """Give points for every criterion of both articles."""
    dice = prompt.make_dice()
    numbers = CRITERION.findall(prompt.last.rpartition("<criteria>")[2])
    return {
        "scores": [
            {
                "criterion": int(number),
                "analysis": "a stand-in's remark",
                "article_1_score": dice.randint(2, 9),
                "article_2_score": dice.randint(2, 9),
            }
            for number in numbers
        ]
    }


def make_scorer(least: int, most: int) -> Callable[[StubPrompt], Any]:
    """Make a judge that gives a whole number on a scale."""
    return lambda prompt: {"analysis": "a stand-in's remark", "score": prompt.make_dice().randint(least, most)}


def judge_support(prompt: StubPrompt) -> Any:
    """Hold every statement for supported."""
    return {"full": [{"id": int(number), "by": []} for number in STATEMENT.findall(prompt.last)]}


JUDGES: dict[str, Callable[[StubPrompt], Any]] = {
    "race": judge_race,
    "support": judge_support,
    "criterion_met": make_scorer(0, 4),
    "pointwise": make_scorer(1, 10),
}
