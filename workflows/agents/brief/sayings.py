"""What units say, so that nothing is told twice."""

from dataclasses import dataclass

from retrieval.language.names import find_names
from retrieval.language.sentences import CELL
from retrieval.language.tokens import split_units
from workflows.agents.brief.units import Unit, UnitKind
from workflows.checks.polarity import NEGATIONS

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


def read_saying(unit: Unit) -> Saying:
    """Read what a unit says, for comparison with others."""
    words = frozenset(split_units(unit.text.lower()))
    apart = {word for word in words if word[0].isdigit()} | (words & DENIALS) | find_names(unit.text)
    first = {unit.text.partition(CELL)[0]} if unit.kind is UnitKind.ROW else set()
    return Saying(words, frozenset(apart | first))
