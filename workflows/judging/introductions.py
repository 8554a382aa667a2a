"""Recognising words that only introduce a quotation. Who said it, when and how is a statement, unless the source says so."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from itertools import groupby

from app.domain.evidence import Quote
from retrieval.language.quantities import QuantityKind
from retrieval.language.stems import find_root
from workflows.checks.vetoes.lists import MarkerClass
from workflows.checks.vetoes.texts import CheckedText, read_checked

HARMLESS = frozenset({MarkerClass.OPEN, MarkerClass.ALSO})
"""What may be said of a quotation though its source does not: that it is somebody's opinion, or one more."""
_VERBS = ("write", "tell", "read", "declare", "remark", "recall", "observe", "continue", "quote", "disagree")
_INTRODUCING = frozenset(map(find_root, (*_VERBS, "word", "passage", "s")))
_INTRODUCING_ZH = re.compile("写道|写到|说道|谈到|不同来源|来源|说法不一|另?一处|回忆|开头|原文")
_DATE_WORDS = "年月日"
KEPT_SOURCES = 1_024
"""The sources whose description is remembered, less than 1 KB each: it is asked for with every claim that cites them."""


def is_introduction(text: str, quotes: Sequence[Quote]) -> bool:
    """Say whether a text in lower case has no number, negation, name or other word but such as introduce, or as the source has.

    A name must stand in what the source says of itself, for a quotation may name others than its speaker. Ideographs do not show
    what a name is: all of them must.
    """
    own = read_checked(_INTRODUCING_ZH.sub(" ", text))
    if not all(marker.kind in HARMLESS for marker in own.markers):
        return False
    about, said = read_checked(describe_sources(quotes)), [read_checked(quote.text) for quote in quotes]
    return (
        _list_figures(own) <= _list_figures(about, *said)
        and _list_added(own) <= {atom.root for atom in about.atoms} | {a.root for each in said for a in each.atoms if not a.name}
        and all(run in about.text for run in _list_chinese(own))
    )


def _list_figures(*texts: CheckedText) -> set[tuple[QuantityKind, float]]:
    return {(quantity.kind, quantity.value) for text in texts for quantity in text.quantities}


def _list_added(text: CheckedText) -> set[str]:
    """Return the roots of words with letters that neither carry grammar nor introduce."""
    return {atom.root for atom in text.atoms if not (atom.free or atom.chinese)} - _INTRODUCING


def describe_sources(quotes: Sequence[Quote]) -> str:
    """Return what the quotes' sources say of themselves: titles, authors, venues and dates, in lower case."""
    sources = (quote.source for quote in quotes)
    return " ; ".join(dict.fromkeys(_describe(each.title, each.author, each.venue, each.published) for each in sources)).lower()


@lru_cache(maxsize=KEPT_SOURCES)
def _describe(title: str, author: str, venue: str, day: date | None) -> str:
    dates = f"{day:%Y-%m-%d} ; {day:%B} {day.day}, {day.year} ; {day.year}年{day.month}月{day.day}日" if day else ""
    return " ; ".join((title, author, venue, dates))


def _list_chinese(text: CheckedText) -> Iterator[str]:
    """Yield the ideographs that neither carry grammar nor introduce, those that stand together in one piece."""
    atoms = [atom for atom in text.atoms if atom.chinese and not atom.free]
    for _, run in groupby(enumerate(atoms), key=lambda each: each[1].start - each[0]):
        yield "".join(atom.text for _, atom in run).strip(_DATE_WORDS)
