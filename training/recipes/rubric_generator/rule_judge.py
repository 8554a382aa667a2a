"""A judge without a model, for planted preferences: it knows the four planted properties, and looks for their words in an item.

An item that names one property is matched as far as the report has it. Any other item is matched by half, by every report: the
judge does not understand it. It is no judge of anything else.
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

MANY_HEADINGS, SOME_WORDS = 10, 200
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
    "headings": lambda report: min(1.0, has_more_headings(report) / MANY_HEADINGS),
    "shorter": lambda report: SOME_WORDS / (SOME_WORDS - is_shorter(report)),
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
    """Return how far a report matches a demand, from 0 to 1."""
    named = list_named(demand)
    return MATCHES[named[0]](report) if len(named) == 1 else NOT_UNDERSTOOD


def list_named(demand: str) -> list[str]:
    """Return the properties that a demand names."""
    return [name for name, words in NAMED.items() if words.search(demand)]
