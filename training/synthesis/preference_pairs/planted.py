"""Planted preferences: a rule decides by a hidden property of the text, so that a recipe can be shown to learn it.

Each rule is a pure function of the text. The report with the higher value is preferred.
"""

import re
from collections.abc import Callable, Mapping

from app.domain.errors import InvalidInput
from workflows.checks.answer_faults import count_words
from workflows.checks.citation_format import split_off_sources
from workflows.checks.heading_faults import list_headings
from workflows.checks.tables import find_tables

_LIMITS = re.compile(
    r"\blimit(?:s|ations?)?\b|\bcaveats?\b|\b(?:could|did)\s+not\s+find\b|\bremains?\s+(?:unclear|open|unknown)\b|\bno\s+evidence\b"
    r"|局限|尚不清楚|未能找到|仍不明确|没有证据",
    re.IGNORECASE,
)


def has_table(text: str) -> float:
    """Return 1 for a text with a table without faults, else 0."""
    return float(any(not table.faults for table in find_tables(text)))


def is_shorter(text: str) -> float:
    """Return minus the number of words, without the list of sources."""
    return -float(count_words(split_off_sources(text).body))


def names_limits(text: str) -> float:
    """Return 1 for a text that says what it could not find, or what its limits are, else 0."""
    return float(_LIMITS.search(split_off_sources(text).body) is not None)


def has_more_headings(text: str) -> float:
    """Return the number of headings."""
    return float(len(list_headings(text)))


RULES: Mapping[str, Callable[[str], float]] = {
    "table": has_table,
    "shorter": is_shorter,
    "limits": names_limits,
    "headings": has_more_headings,
}


def load_rule(name: str) -> Callable[[str], float]:
    """Return the rule of this name.

    Raises:
        InvalidInput: there is none; the message lists the known names.
    """
    if name not in RULES:
        raise InvalidInput(f"there is no planted rule {name!r}; there are {', '.join(sorted(RULES))}")
    return RULES[name]
