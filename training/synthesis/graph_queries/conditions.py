"""A question as conditions over the graph, and the nodes that satisfy all of them.

A link is satisfied by any link between two nodes, whatever its sentence says, and an attribute by whatever may have it. So the
real answers are among the satisfying nodes, and a question with one satisfying node has one answer, as far as the graph knows.
"""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import reduce

from app.domain.value import Value
from training.synthesis.graph_queries.graph import GraphView
from training.synthesis.graph_queries.nouns import Attribute, AttributeKind, Category, StatingSentence

ANSWER = "answer"


class ConditionKind(StrEnum):
    """The kind of a condition."""

    NAMED = "named"
    LINKED = "linked"
    KIND = "kind"
    CATEGORY = "category"
    PLACE = "place"
    YEAR = "year"
    NUMBER = "number"


class Condition(Value):
    """Something that holds for what is meant by `about`: `answer`, or a place on the way to it such as `a1`.

    `to` is what it is linked with, `node` the one that bears the name in `value`. Years and numbers lie within `low` and `high`.
    `passage` states it; `phrase` are the words of the question that say it.
    """

    id: str
    kind: ConditionKind
    about: str
    to: str = ""
    node: int | None = None
    value: str = ""
    low: float | None = None
    high: float | None = None
    passage: StatingSentence | None = None
    phrase: str = ""


def make_attribute_condition(identity: str, about: str, found: Attribute, passage: StatingSentence) -> Condition:
    """Return the condition that something has this attribute, exactly."""
    kind = ConditionKind(found.kind)
    return Condition(id=identity, kind=kind, about=about, value=found.value, low=found.number, high=found.number, passage=passage)


def find_answers(graph: GraphView, conditions: Sequence[Condition], about: str = ANSWER) -> frozenset[int]:
    """Return all nodes that `about` may be, given all conditions. Conditions must form a tree towards it."""
    own = [find_satisfying(graph, c) for c in conditions if c.about == about and c.kind is not ConditionKind.LINKED]
    from_arms = [
        graph.find_linked(find_answers(graph, conditions, c.to))
        for c in conditions
        if c.about == about and c.kind is ConditionKind.LINKED
    ]
    return reduce(frozenset.intersection, sorted([*own, *from_arms], key=len), graph.nodes)


def find_satisfying(graph: GraphView, condition: Condition) -> frozenset[int]:
    """Return the nodes that satisfy a condition that is no link."""
    if condition.kind is ConditionKind.NAMED:
        return frozenset([condition.node] if condition.node is not None else [])
    if condition.kind is ConditionKind.CATEGORY:
        return graph.find_category(Category(condition.value))
    return graph.find_having(AttributeKind(condition.kind), condition.value, condition.low, condition.high)


def drop_condition(conditions: Iterable[Condition], identity: str) -> list[Condition]:
    """Return the conditions without one."""
    return [condition for condition in conditions if condition.id != identity]


def replace_condition(conditions: Iterable[Condition], fresh: Condition) -> list[Condition]:
    """Return the conditions with one replaced by another of its id."""
    return [fresh if condition.id == fresh.id else condition for condition in conditions]


def round_outwards(value: float) -> tuple[float, float]:
    """Return the bounds of a number to its first digit: 8,848 lies between 8,000 and 9,000."""
    if not value:
        return value, value
    step = 10.0 ** math.floor(math.log10(abs(value)))
    low = math.floor(value / step) * step
    return low, low + step
