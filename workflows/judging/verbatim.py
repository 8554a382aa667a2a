"""Recognising claims in their source's own words. Such claims need no further judge."""

import re
from collections.abc import Sequence
from functools import lru_cache

from app.domain.evidence import Quote
from app.domain.script import count_ideographs
from retrieval.language.names import find_names
from retrieval.language.sentences import list_sentences
from workflows.checks.negation import NEGATION_REACH, is_negation
from workflows.checks.vetoes.veto import find_vetoes
from workflows.judging.introductions import describe_sources, is_introduction

VERBATIM = "verbatim"
CELL = " | "
MOST_ADDED = 0.4
"""The greatest share of a claim's letters that may introduce the quotation, such as its speaker and place."""
LEAST_QUOTED = 30
LETTERS_OF_IDEOGRAPH = 3
LEAST_CHARS = 12
"""The length from which a piece of a sentence says something that the rest may turn; a date or a name does not."""
KEPT_TEXTS = 1_024
"""The texts whose letters are remembered, some 1 KB each: a claim's quotes are looked at in several ways, and by other claims."""
_LETTERS = re.compile(r"[^\W_]+")
# A straight mark before a letter opens, any other closes. The first quotation may open, the last may close, in another sentence.
_QUOTED = re.compile(r"(?:[“「『]|\"(?=\w))([^“”\"「」『』]+)(?:[”\"」』]|$)")
_QUOTED_FROM_THE_START = re.compile(r"([^“”\"「」『』]+)(?:[”」』]|\"(?!\w))")


def is_verbatim(claim: str, quotes: Sequence[Quote]) -> bool:
    """Say whether the claim consists of its quotes or parts of them, with few other words, which only introduce them.

    A part that was cut out of a sentence must still say what the sentence says.
    """
    own, said = _fold_letters(claim), [_fold_letters(quote.text) for quote in quotes]
    quoted = [_fold_letters(part) for part in _find_quoted(claim)]
    if _is_cell(own, quotes):
        return True
    if any(_is_part_of(own, source) for source in said):
        return len(own) < LEAST_CHARS or own in quoted or _is_whole(own, quotes) or _keeps_sense(claim, quotes)
    if any(len(part) >= LEAST_CHARS and not any(_is_part_of(part, source) for source in said) for part in quoted):
        return False
    parts = quoted or [source for source in said if len(source) >= LEAST_CHARS and _is_part_of(source, own)]
    if not parts or not _adds_little(own, parts, quotes) or not _only_introduces(own, parts, quotes):
        return False
    return _knows_names(claim, quotes) and (bool(quoted) or _keeps_sense(claim, quotes))


def _is_whole(own: str, quotes: Sequence[Quote]) -> bool:
    """Say whether the claim is a whole quote, or whole lines or sentences of one."""
    pieces = [pieces for quote in quotes for pieces in ([quote.text], quote.text.splitlines(), list_sentences(quote.text))]
    return any(_is_run_of(own, [_fold_letters(piece) for piece in some]) for some in pieces)


def _is_run_of(own: str, pieces: Sequence[str]) -> bool:
    """Say whether some pieces in a row are these letters."""
    for start, piece in enumerate(pieces):
        run, following = piece, iter(pieces[start + 1 :])
        while len(run) < len(own) and own.startswith(run):
            if (more := next(following, None)) is None:
                break
            run = f"{run} {more}".strip()
        if run == own:
            return True
    return False


def _keeps_sense(claim: str, quotes: Sequence[Quote]) -> bool:
    """Say whether nothing that a piece of a sentence leaves out turns what it says. A piece without words says nothing."""
    title = "; ".join(dict.fromkeys(quote.source.title for quote in quotes))
    found = find_vetoes(claim, title, tuple(sentence for quote in quotes for sentence in list_sentences(quote.text)))
    return not found.words or not found.vetoes


def _is_cell(own: str, quotes: Sequence[Quote]) -> bool:
    """Say whether a claim is a cell of a row that a quote gives."""
    return any(CELL in quote.text and own in map(_fold_letters, quote.text.split(CELL)) for quote in quotes)


def _find_quoted(claim: str) -> list[str]:
    """Return the texts between quotation marks. The first may open, and the last may close, in another sentence."""
    if first := _QUOTED_FROM_THE_START.match(claim):
        return [first.group(1), *_QUOTED.findall(claim, first.end())]
    return _QUOTED.findall(claim)


def _is_part_of(part: str, whole: str) -> bool:
    """Say whether `whole` contains `part` in one piece, without a negation just before it."""
    before, found, _ = f" {whole} ".partition(f" {part} ")
    near = before.split()[-NEGATION_REACH:]
    return bool(found and part) and not any(map(is_negation, near))


def _adds_little(claim: str, parts: Sequence[str], quotes: Sequence[Quote]) -> bool:
    """Say whether the parts are most of the claim. What is no longer than a title quotes nothing."""
    known, rest = set(_fold_letters(describe_sources(quotes)).split()), claim
    for part in parts:
        rest = rest.replace(part, " ", 1)
    added = [word for word in rest.split() if word not in known]
    return max(map(_measure_length, parts)) >= LEAST_QUOTED and sum(map(_measure_length, added)) <= MOST_ADDED * _measure_length(
        claim
    )


def _only_introduces(claim: str, parts: Sequence[str], quotes: Sequence[Quote]) -> bool:
    """Say whether the words before each part, and those after the last, add nothing to what its own source says."""
    rest, sources = claim, list[Quote]()
    for part in sorted(parts, key=lambda part: (claim.find(part), -len(part))):
        before, found, after = rest.partition(part)
        of = [quote for quote in quotes if found and _is_part_of(part, _fold_letters(quote.text))]
        if of and not is_introduction(before, of):
            return False
        rest, sources = (after, of) if of else (rest, sources)
    return bool(sources) and is_introduction(rest, sources)


def _knows_names(claim: str, quotes: Sequence[Quote]) -> bool:
    """Say whether the sources have all names of the claim, also those that read like other words in lower case (WHO, US)."""
    known = _fold_letters(" ".join((describe_sources(quotes), *(quote.text for quote in quotes)))).split()
    return set(_fold_letters(" ".join(find_names(claim))).split()) <= {*known, "s"}


def _measure_length(text: str) -> float:
    """Return the number of letters; an ideograph counts as many as it stands for."""
    return len(text) + (LETTERS_OF_IDEOGRAPH - 1) * count_ideographs(text)


@lru_cache(maxsize=KEPT_TEXTS)
def _fold_letters(text: str) -> str:
    """Return only letters and digits, in lower case, so that typography does not count."""
    return " ".join(_LETTERS.findall(text.lower()))
