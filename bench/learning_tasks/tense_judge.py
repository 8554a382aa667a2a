"""A judge of tense for dated reports. The rule of the samples sees predictions of what is over; the judge sees both tenses.

It stands where a model judges in the product (the criterion of tense of `training/synthesis/self_samples/presets.py`), looks at
nothing but tense, and shares no code with who counts the reports.
"""

import re

from app.domain.chat import ChatRequest
from bench.learning_tasks.dated_reports import TODAY
from workflows.judging.score_judges import MOST_MET

_DATED = re.compile(r"\b(\d{4}) the \w+ (was|will be) finished\b")
BOTH_WORKS = 2


def judge_tense(request: ChatRequest) -> str:
    """Answer a request for a verdict, in tags: all points where both works are told in the tense of their year, else none."""
    _, _, report = request.messages[-1].content.rpartition("<answer>")
    score = MOST_MET if is_tense_right(report) else 0
    return f'<think>I look at each year.</think><answer>{{"analysis": "by its years", "score": {score}}}</answer>'


def is_tense_right(report: str) -> bool:
    """Say whether a report tells two works, each in the tense of its year."""
    told = _DATED.findall(report)
    return len(told) == BOTH_WORKS and all((verb == "was") == (int(year) < TODAY.year) for year, verb in told)
