"""The order of providers for a query, by its language and form. A later one is asked where the first fails or finds nothing."""

import re
from collections.abc import Sequence

from retrieval.outside.scholar.papers import find_doi
from retrieval.outside.web.ports import SearchProvider, SearchQuery

LONG_QUESTION_WORDS = 10
BY_MEANING = frozenset({"exa", "tavily"})
BY_WORDS = frozenset({"serper", "brave", "searxng"})
_OPERATOR = re.compile(r'"[^"]+"|\b(?:site|filetype|intitle|inurl):\S')
_ARXIV = re.compile(r"\b(?:arxiv:\s*)?\d{4}\.\d{4,5}\b", re.IGNORECASE)


def sort_providers(providers: Sequence[SearchProvider], query: SearchQuery) -> list[SearchProvider]:
    """Sort the providers in the order in which they are asked this query; equal ones stay in the given order."""
    preferred = _preferred_names(query.text)
    return sorted(providers, key=lambda p: (query.language not in p.languages, p.provider.name not in preferred))


def _preferred_names(text: str) -> frozenset[str]:
    """Return the names of the providers that serve a query of this form best."""
    if find_doi(text):
        return frozenset({"crossref"})
    if _ARXIV.search(text):
        return frozenset({"arxiv"})
    if _OPERATOR.search(text):
        return BY_WORDS
    return BY_MEANING if len(text.split()) >= LONG_QUESTION_WORDS else frozenset()
