"""Headings of parts that are periods: the years, and of what was read off the corpus only what the section then shows."""

import re
from collections.abc import Sequence

from app.domain.query import Language
from workflows.agents.extractive.phrasing import phrases_in
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.words import terms

SHOWN = 2
"""In so many of a section's statements a phrase has to be for its heading to name it."""
_YEARS = re.compile(r"\d{4}(?:–\d{4})?")


def period_of(title: str, language: Language) -> str:
    """The years that a title begins with, or nothing."""
    years, colon, _ = title.partition(phrases_in(language).colon)
    return years if _YEARS.fullmatch(years) and (colon or years == title) else ""


def borne_out(title: str, shown: Sequence[Sentence], language: Language) -> str:
    """A period's title without the phrases that hardly any of its statements hold; any other title as it is."""
    words = phrases_in(language)
    years = period_of(title, language)
    if not years:
        return title
    named = re.split("|".join(map(re.escape, (words.conjunction, words.comma))), title[len(years) + len(words.colon) :])
    kept = [phrase for phrase in named if sum(set(terms(phrase)) <= one.term_set for one in shown) >= SHOWN]
    return years + words.colon + words.conjunction.join(kept) if kept and any(kept) else years
