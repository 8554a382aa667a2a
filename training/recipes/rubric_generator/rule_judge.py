"""A judge without a model, for planted preferences: it knows the four planted properties, and looks for their words in an item.

An item that names one property is matched by a report that has it. Any other item is matched by half, by every report: the judge
does not understand it. It is no judge of anything else. Nothing is matched in degrees: a policy that asks for all of them alike
would then win its pairs by degrees that no reader sees.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean

from app.domain.rubric import Rubric
from training.rewards.score import Score
from training.synthesis.preference_pairs.planted import has_more_headings, has_table, is_shorter, names_limits
from workflows.judging.rubric_judge import RubricScores
from workflows.judging.score_judges import BEST_RUBRIC

LEAST_HEADINGS, MOST_WORDS = 5, 200
"""How many headings are a heading for each part, and how many words are short."""
NOT_UNDERSTOOD = 0.5
NAMED: Mapping[str, re.Pattern[str]] = {
    "table": re.compile(r"\btables?\b|表格", re.IGNORECASE),
    "limits": re.compile(r"\blimit(?:s|ations?)?\b|\bcaveats?\b|局限", re.IGNORECASE),
    "headings": re.compile(r"\bheadings?\b|标题", re.IGNORECASE),
    "shorter": re.compile(r"\bshort(?:er)?\b|\bconcise\b|\bbrief(?:er)?\b|简短|简洁", re.IGNORECASE),
}
MATCHES: Mapping[str, Callable[[str], float]] = {
    "table": has_table,
    "limits": names_limits,
    "headings": lambda report: float(has_more_headings(report) >= LEAST_HEADINGS),
    "shorter": lambda report: float(-is_shorter(report) <= MOST_WORDS),
}


@dataclass(frozen=True, slots=True)
class RuleJudge:
    """Rates reports by planted properties, and a rubric by the share of its items that can be checked: those that name one.

    Words of the question earn nothing: an item that only repeats them asks for nothing.
    """

    async def score(self, question: str, report: str, rubric: Rubric) -> RubricScores:
        """Match each item."""
        weights = tuple(float(item.weight) for item in rubric.criteria)
        return RubricScores(weights, tuple(match_demand(item.demand, report) for item in rubric.criteria))

    async def rate(self, question: str, rubric: Rubric) -> Score:
        """Return the share of items that can be checked, from 0 to 4."""
        return BEST_RUBRIC * fmean(len(list_named(item.demand)) == 1 for item in rubric.criteria)


def match_demand(demand: str, report: str) -> float:
    """Return whether a report matches a demand: 1 or 0, and a half where the demand is not understood."""
    named = list_named(demand)
    return MATCHES[named[0]](report) if len(named) == 1 else NOT_UNDERSTOOD


def list_named(demand: str) -> list[str]:
    """Return the properties that a demand names."""
    return [name for name, words in NAMED.items() if words.search(demand)]
