"""Recognising words that only introduce a quotation. Who said it, when and how is a statement, unless the source says so."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from app.domain.evidence import Quote, Source
from retrieval.language.stems import find_root
from workflows.checks.vetoes.lists import MarkerClass
from workflows.checks.vetoes.texts import CheckedText, read_checked

HARMLESS = frozenset({MarkerClass.OPEN, MarkerClass.ALSO})
"""What may be said of a quotation though its source does not: that it is somebody's opinion, or one more."""
_VERBS = ("write", "tell", "read", "declare", "remark", "recall", "observe", "continue", "quote", "disagree")
_INTRODUCING = frozenset(map(find_root, (*_VERBS, "word", "passage", "s")))
_INTRODUCING_ZH = re.compile("写道|写到|说道|谈到|不同来源|来源|说法不一|另?一处|回忆|开头|原文")
_DATE_WORDS = "年月日"


def is_introduction(text: str, quotes: Sequence[Quote]) -> bool:
    """Say whether a text in lower case has no number, negation, name or other word but such as introduce, or as the source has.

    A name must stand in what the source says of itself, for a quotation may name others than its speaker. Ideographs do not show
    what a name is: all of them must.
    """
    own = read_checked(_INTRODUCING_ZH.sub(" ", text))
    about, said = read_checked(describe_sources(quotes)), [read_checked(quote.text) for quote in quotes]
    figures = {(quantity.kind, quantity.value) for each in (about, *said) for quantity in each.quantities}
    roots = {atom.root for atom in about.atoms} | {atom.root for each in said for atom in each.atoms if not atom.name}
    return (
        all(marker.kind in HARMLESS for marker in own.markers)
        and all((quantity.kind, quantity.value) in figures for quantity in own.quantities)
        and all(atom.free or atom.chinese or atom.root in roots | _INTRODUCING for atom in own.atoms)
        and all(run in about.text for run in _list_chinese(own))
    )


def describe_sources(quotes: Sequence[Quote]) -> str:
    """Return what the quotes' sources say of themselves: titles, authors, venues and dates, in lower case."""
    return " ; ".join(dict.fromkeys(_describe(quote.source) for quote in quotes)).lower()


def _describe(source: Source) -> str:
    day = source.published
    dates = f"{day:%Y-%m-%d} ; {day:%B} {day.day}, {day.year} ; {day.year}年{day.month}月{day.day}日" if day else ""
    return " ; ".join((source.title, source.author, source.venue, dates))


def _list_chinese(text: CheckedText) -> Iterator[str]:
    """Yield the ideographs that neither carry grammar nor introduce, those that stand together in one piece."""
    atoms = [atom for atom in text.atoms if atom.chinese and not atom.free]
    for _, run in groupby(enumerate(atoms), key=lambda each: each[1].start - each[0]):
        yield "".join(atom.text for _, atom in run).strip(_DATE_WORDS)
