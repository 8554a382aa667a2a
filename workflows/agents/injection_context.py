"""Telling an order to this reader from a text about orders: one that is quoted, told to others, or the subject of the text."""

from collections.abc import Sequence
from itertools import groupby

from workflows.agents.injection_signs import InjectionHit, ReaderWords, split_sentences

ENOUGH = 2
"""So many words elsewhere make it a text about machines, prompts, writing or contracts."""
GUIDE_SENTENCES, GUIDE_SHARE = 4, 0.5
"""So many sentences, of which such a share orders something, make a guide."""
QUOTED = "quoted"
BEFORE_CHARS = 80


def is_quoted(hit: InjectionHit, unquoted: str) -> bool:
    """Tell whether a hit lies wholly in a quote; `unquoted` is the text with its quotes blanked."""
    return not unquoted[hit.start : hit.end].strip()


def is_told_to_others(plain: str, hit: InjectionHit, words: ReaderWords) -> bool:
    """Tell whether the text reports that somebody else gets this order, or that it is about somebody else's prompt."""
    before = plain[max(0, hit.start - BEFORE_CHARS) : hit.start]
    return bool(
        (words.told_to_others and words.told_to_others.search(before))
        or (words.of_others and words.of_others.search(plain[hit.start : hit.end]))
    )


def is_subject_of_text(plain: str, rule: str, hit: InjectionHit, words: ReaderWords, hits: Sequence[InjectionHit]) -> bool:
    """Tell whether the text, apart from the sentences with hits beside this one, is about what the rule looks for."""
    pattern = words.spoken_of.get(rule)
    if pattern is None:
        return False
    start, end = _join_neighbours(plain, hit, hits)
    return sum(not start <= found.start() < end for found in pattern.finditer(plain)) >= ENOUGH


def is_guide(unquoted: str, words: ReaderWords) -> bool:
    """Tell whether a text orders its readers about throughout: then they are people who write, cite, judge or sign something."""
    spans = list(split_sentences(unquoted))
    orders = sum(words.orders.search(unquoted, start, end) is not None for start, end in spans)
    return len(spans) >= GUIDE_SENTENCES and orders >= GUIDE_SHARE * len(spans)


def _join_neighbours(plain: str, hit: InjectionHit, hits: Sequence[InjectionHit]) -> tuple[int, int]:
    """Return the run of sentences with hits in which a hit stands, because one order may take several."""
    for has_hit, run in groupby(
        split_sentences(plain), lambda span: any(one.start < span[1] and span[0] < one.end for one in hits)
    ):
        spans = list(run)
        if has_hit and spans[0][0] <= hit.start < spans[-1][1]:
            return spans[0][0], spans[-1][1]
    return hit.start, hit.end
