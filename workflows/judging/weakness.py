"""Finding claims that rest on one weak source, and why it is weak."""

from collections.abc import Sequence

from app.domain.evidence import Quote, Source
from app.domain.query import Language
from workflows.judging.remarks import word_remark

WEB_KINDS = frozenset({"web", "web page"})


def find_weakness(quotes: Sequence[Quote], language: Language) -> str:
    """Return why these quotes are weak evidence; empty if they are not, or if they come from more than one source."""
    sources = {quote.source.url: quote.source for quote in quotes}
    if len(sources) != 1:
        return ""
    why = _weak_reason(next(iter(sources.values())))
    return word_remark(why, language) if why else ""


def _weak_reason(source: Source) -> str:
    if source.retracted:
        return "retracted"
    if source.preprint:
        return "preprint"
    return "undated" if source.kind in WEB_KINDS and source.published is None else ""
