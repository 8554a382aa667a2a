"""The nouns of the graph: where something is stated, entities, and the hops that lead from a start to an answer."""

from collections.abc import Sequence
from enum import StrEnum

from app.domain.evidence import Passage
from app.domain.query import Language
from app.domain.value import Value


class StatingSentence(Value):
    """The sentence that states something: `[start, end)` of the snapshot of a document, in characters."""

    url: str
    title: str
    snapshot: str
    start: int
    end: int
    text: str

    def is_within(self, found: Passage) -> bool:
        """Say whether a found passage has most of the sentence."""
        shared = min(self.end, found.end) - max(self.start, found.start)
        return found.source.url == self.url and found.source.snapshot == self.snapshot and 2 * shared > self.end - self.start


class AttributeKind(StrEnum):
    """The kind of what a sentence says about an entity."""

    YEAR = "year"
    KIND = "kind"
    PLACE = "place"
    NUMBER = "number"


class Attribute(Value):
    """Something that a sentence says about an entity. `number` is the value of a year or an amount, whose unit is `value`."""

    node: int
    kind: AttributeKind
    value: str
    number: float | None = None
    passage: int


class Category(StrEnum):
    """A coarse kind of entity."""

    PERSON = "person"
    PLACE = "place"
    ORGANISATION = "organisation"
    WORK = "work"
    EVENT = "event"
    SPECIES = "species"
    OTHER = "other"


class Node(Value):
    """An entity: a document with the names of what it is about. `ambiguity` counts the nodes that share one of its names."""

    id: int
    name: str
    aliases: tuple[str, ...] = ()
    url: str
    snapshot: str
    language: Language
    category: Category = Category.OTHER
    ambiguity: int = 1


class Hop(Value):
    """A step from an entity that is known by then to the next one, and the sentence that links the two."""

    known: int
    found: int
    passage: int


class Arm(Value):
    """A chain of hops from a start to the answer."""

    hops: tuple[Hop, ...]

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes from the start to the answer."""
        return (self.hops[0].known, *(hop.found for hop in self.hops))


class Subgraph(Value):
    """One chain, or several that meet in the answer."""

    arms: tuple[Arm, ...]

    @property
    def answer(self) -> int:
        """The node in which all arms end."""
        return self.arms[0].nodes[-1]

    @property
    def hops(self) -> Sequence[Hop]:
        """All hops, arm by arm."""
        return [hop for arm in self.arms for hop in arm.hops]

    @property
    def starts(self) -> Sequence[int]:
        """The first node of each arm."""
        return [arm.nodes[0] for arm in self.arms]

    @property
    def between(self) -> Sequence[int]:
        """The nodes between the starts and the answer."""
        return [node for arm in self.arms for node in arm.nodes[1:-1]]
