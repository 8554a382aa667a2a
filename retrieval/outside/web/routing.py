"""Which provider is asked first: by the query's language and form. The others follow where it fails or finds nothing."""

import re
from collections.abc import Sequence

from retrieval.outside.scholar.papers import bare_doi
from retrieval.outside.web.ports import SearchProvider, SearchQuery

LONG_QUESTION_WORDS = 10
BY_MEANING = frozenset({"exa", "tavily"})
BY_WORDS = frozenset({"serper", "brave", "searxng"})
_OPERATOR = re.compile(r'"[^"]+"|\b(?:site|filetype|intitle|inurl):\S')
_ARXIV = re.compile(r"\b(?:arxiv:\s*)?\d{4}\.\d{4,5}\b", re.IGNORECASE)


def in_order(providers: Sequence[SearchProvider], query: SearchQuery) -> list[SearchProvider]:
    """The providers in the order in which this query is put to them; among equals the given order stays."""
    preferred = _preferred(query.text)
    return sorted(providers, key=lambda p: (query.language not in p.languages, p.provider.name not in preferred))


def _preferred(text: str) -> frozenset[str]:
    """Names of the providers that serve a query of this form best."""
    if bare_doi(text):
        return frozenset({"crossref"})
    if _ARXIV.search(text):
        return frozenset({"arxiv"})
    if _OPERATOR.search(text):
        return BY_WORDS
    return BY_MEANING if len(text.split()) >= LONG_QUESTION_WORDS else frozenset()
