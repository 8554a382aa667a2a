"""Choosing what a brief quotes: the best units, each once, until the brief is long enough."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from retrieval.language.tokens import split_units
from workflows.agents.brief.ranking import RankedUnit
from workflows.agents.brief.units import Unit, count_words

CONTINUED = 3
"""The best units that are quoted with what follows them: what is asked is often said in one sentence and answered in the next."""
FADED = 1 / 3
"""The share of the best score below which a unit is beside the point."""
SAME = 0.7
"""The share of the shorter text's words that another must have to say the same."""


def choose_units(ranked: Sequence[RankedUnit], words: float) -> list[RankedUnit]:
    """Choose the best units up to a number of words.

    What a unit needs before it comes with it, and after the very best ones what follows them. What says the same as another, or
    is far from the best, is left out.
    """
    least = FADED * ranked[0].score if ranked else 0.0
    following = _map_following(ranked)
    chosen: dict[tuple[str, int, int], RankedUnit] = {}
    said: list[frozenset[str]] = []
    left = words
    for each in ranked:
        if left <= 0 or each.score < least or each.score <= 0:
            break
        own = frozenset(split_units(each.unit.text.lower()))
        if each.unit.place in chosen or _is_said(own, said):
            continue
        after = following.get(each.unit.place) if len(said) < CONTINUED else None
        for unit in filter(None, (each.unit.before, each.unit, after)):
            if unit.place not in chosen:
                chosen[unit.place] = RankedUnit(unit, each.score)
                left -= count_words(unit.text)
        said.append(own)
    return list(chosen.values())


def _map_following(ranked: Sequence[RankedUnit]) -> dict[tuple[str, int, int], Unit]:
    """Map the place of each unit to the unit that follows it in its passage."""
    ordered = sorted((each.unit for each in ranked), key=lambda unit: (unit.passage.key, unit.start))
    return {unit.place: after for unit, after in pairwise(ordered) if unit.passage.key == after.passage.key}


def _is_said(own: frozenset[str], said: Iterable[frozenset[str]]) -> bool:
    return any(len(own & other) >= SAME * min(len(own), len(other)) and not _differ_in_figures(own, other) for other in said)


def _differ_in_figures(one: frozenset[str], other: frozenset[str]) -> bool:
    return any(word[0].isdigit() for word in one ^ other)
