"""Choosing what a brief quotes: the best units, each with what a reader needs to understand it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from app.domain.evidence import FormKind
from retrieval.language.blocks import count_words
from retrieval.language.names import find_names
from retrieval.language.sentences import CELL
from retrieval.language.tokens import split_units
from workflows.agents.brief.ranking import RankedUnit
from workflows.agents.brief.units import Unit
from workflows.checks.negation import NEGATIONS

FADED = 0.5
"""The share of the standard below which a unit is not even kept for readers who ask for more."""
STANDARD, MANY = 3, 10
"""The place, among at least so many, of the score by which others are measured; the best may be far above all that is needed."""
STRONG = 3
"""The best units, of which more is quoted: what is asked is often said in one sentence and answered in the next ones."""
WHOLE, WHOLE_OF_STRONG = 60, 150
"""A list, or an item of one, is quoted as a whole if it has at most so many words."""
FOLLOWING = 1
"""The sentences that are quoted after a strong one that is of no list."""

FURTHER = 3
"""The units that are kept of each source beside the chosen ones."""
DENIALS = NEGATIONS | frozenset("不没無无未非莫勿別别")
SAME = 0.7
"""The share of the shorter text's words that another must have to say the same."""


@dataclass(frozen=True, slots=True)
class Saying:
    """The words of a unit, and those that set it apart: its figures, names and negations, and the first cell of a row."""

    words: frozenset[str]
    apart: frozenset[str]

    def says_the_same(self, other: "Saying") -> bool:
        """Say whether two units share most words and none sets them apart."""
        least = SAME * min(len(self.words), len(other.words))
        return len(self.words & other.words) >= least and self.apart == other.apart


def choose_units(ranked: Sequence[RankedUnit], words: float) -> list[RankedUnit]:
    """Choose the best units up to a number of words, each with what belongs to it.

    What says the same as another, opens a list that its passage lacks, or is far from the best, is left out.
    """
    least = FADED * find_standard(each.score for each in ranked)
    passages = PassageUnits(each.unit for each in ranked)
    chosen: dict[tuple[str, int, int], RankedUnit] = {}
    said: list[Saying] = []
    left = words
    for each in ranked:
        if left <= 0:
            break
        if each.score < least or each.score <= 0 or each.unit.place in chosen:
            continue
        own = read_saying(each.unit)
        if any(map(own.says_the_same, said)):
            continue
        taken = passages.take_with(each.unit, is_strong=len(said) < STRONG)
        for unit in taken:
            if unit.place not in chosen:
                chosen[unit.place] = replace(each, unit=unit)
                left -= count_words(unit.text)
        said += [own] if taken else []
    return list(chosen.values())


def add_further(chosen: Sequence[RankedUnit], ranked: Sequence[RankedUnit]) -> list[RankedUnit]:
    """Add the next best units of each source that is quoted, for a reader who has its section written anew.

    What says the same as a chosen one is left out again.
    """
    taken = {each.unit.place for each in chosen}
    said = [read_saying(each.unit) for each in chosen]
    left = Counter({each.unit.passage.source.url: FURTHER for each in chosen})
    further = []
    for each in ranked:
        url = each.unit.passage.source.url
        if left[url] <= 0 or each.unit.place in taken or each.unit.opens:
            continue
        if not any(map(read_saying(each.unit).says_the_same, said)):
            left[url] -= 1
            further.append(each)
    return [*chosen, *further]


def find_standard(scores: Iterable[float]) -> float:
    """Return the score by which others are measured: a high one of many, the best of few, 0 of none."""
    ordered = sorted(set(scores), reverse=True)
    return ordered[STANDARD - 1 if len(ordered) >= MANY else 0] if ordered else 0.0


class PassageUnits:
    """The units of some passages, each passage's in order."""

    def __init__(self, units: Iterable[Unit]) -> None:
        self._units = defaultdict[str, list[Unit]](list)
        for unit in sorted(units, key=lambda unit: unit.start):
            self._units[unit.passage.key].append(unit)

    def take_with(self, unit: Unit, is_strong: bool) -> list[Unit]:
        """Return a unit with what a reader needs, in order; nothing for one that opens a list which its passage lacks.

        That is its headings, what comes `before` it, its list or item as a whole unless they are long, and what follows a strong
        one of no list.
        """
        together = self._find_together(unit, WHOLE_OF_STRONG if is_strong else WHOLE)
        if unit.opens and len(together) == 1:
            return []
        after = self._find_following(unit) if is_strong and not unit.group else []
        title = unit.passage.source.title.casefold()
        above = [unit.head.head, unit.head] if unit.head else []
        heads = [head for head in above if head and head.place[1] and head.text.casefold() not in title]
        return [*heads, *filter(None, (together[0].before, *together, *after))]

    def _find_together(self, unit: Unit, words: float) -> list[Unit]:
        """Return the list of a unit, or its item, if it is short enough; of a long list, its first units for what opens it."""
        own = [other for other in self._units[unit.passage.key] if other.group == unit.group] if unit.group else [unit]
        if _count(own) <= words:
            return own
        if unit.opens:
            return own[: max(2, sum(_count(own[: end + 1]) <= words for end in range(len(own))))]
        item = [other for other in own if other.item == unit.item]
        return item if _count(item) <= words else [unit]

    def _find_following(self, unit: Unit) -> list[Unit]:
        own = self._units[unit.passage.key]
        at = own.index(unit) + 1
        return [each for each in own[at : at + FOLLOWING] if each.kind is unit.kind and each.head == unit.head and not each.opens]


def _count(units: Iterable[Unit]) -> float:
    return sum(count_words(unit.text) for unit in units)


def read_saying(unit: Unit) -> Saying:
    """Read what a unit says, for comparison with others."""
    words = frozenset(split_units(unit.text.lower()))
    apart = {word for word in words if word[0].isdigit()} | (words & DENIALS) | find_names(unit.text)
    first = {unit.text.partition(CELL)[0]} if unit.kind in (FormKind.ROW, FormKind.TABLE_HEAD) else set()
    return Saying(words, frozenset(apart | first))
