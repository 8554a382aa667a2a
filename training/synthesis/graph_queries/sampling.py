"""Sampling a subgraph by a seed: a walk from the answer backwards, then attributes until the answer is alone.

Attributes are the weakest that do: what many nodes have narrows little, so that each hop stays necessary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import NamedTuple

from training.synthesis.graph_queries.conditions import (
    ANSWER,
    Condition,
    ConditionKind,
    find_answers,
    find_satisfying,
    make_attribute_condition,
)
from training.synthesis.graph_queries.constraints import find_dependence, find_needless_hop, find_shortcut
from training.synthesis.graph_queries.graph import Graph
from training.synthesis.graph_queries.naming import find_told
from training.synthesis.graph_queries.nouns import Arm, AttributeKind, Hop, Node, Subgraph

MOST_LINKS = 60
"""A node with more links is a hub: nothing is told by being linked with it."""
MOST_CANDIDATES = 4
"""Attributes are added to an intermediate node until no more candidates are left for it."""
MOST_ATTRIBUTES = 3
FEWEST_OF_KIND = 3
"""A word for a kind that fewer nodes have tells too much, or is no kind."""
WALKS = 80
SHAPES: dict[int, tuple[tuple[int, ...], ...]] = {
    1: ((1,),),
    2: ((2,), (1, 1)),
    3: ((3,), (2, 1)),
    4: ((4,), (2, 2), (3, 1)),
    5: ((5,), (3, 2), (4, 1)),
}
"""The lengths of the arms, by the number of hops."""


class SampledQuery(NamedTuple):
    """A subgraph with the conditions that single out its answer."""

    subgraph: Subgraph
    conditions: tuple[Condition, ...]


class NothingSampled(NamedTuple):
    """The stage at which most walks ended."""

    stage: str
    reason: str


def variable_of(arm: int, place: int, length: int) -> str:
    """Return how conditions call the node at a place of an arm."""
    return ANSWER if place == length else f"{'abc'[arm]}{place}"


@dataclass
class Sampler:
    """Draws subgraphs of a number of hops from a graph."""

    graph: Graph
    draw: Random

    def sample(self, hops: int) -> SampledQuery | NothingSampled:
        """Draw walks until one keeps necessity and independence and has one answer."""
        last = NothingSampled("sampling", f"no walk of {hops} hops was found")
        for _ in range(WALKS):
            shape = self.draw.choice(SHAPES[hops])
            subgraph = self._walk(shape)
            if subgraph is None:
                continue
            found = self._condition(subgraph)
            if isinstance(found, SampledQuery):
                return found
            last = found
        return last

    def _condition(self, subgraph: Subgraph) -> SampledQuery | NothingSampled:
        stated = [self.graph.find_passage(hop.passage) for hop in subgraph.hops]
        if told := self._find_telling_name(subgraph):
            return NothingSampled("names", told)
        if shared := find_dependence(subgraph, stated):
            return NothingSampled("independence", shared)
        if shortcut := find_shortcut(self.graph, subgraph):
            return NothingSampled("necessity", shortcut)
        conditions = self._add_attributes(subgraph)
        if conditions is None:
            return NothingSampled("uniqueness", "no attributes single out the answer")
        if needless := find_needless_hop(self.graph, conditions):
            return NothingSampled("necessity", needless)
        return SampledQuery(subgraph, tuple(conditions))

    def _find_telling_name(self, subgraph: Subgraph) -> str:
        """Return why one entity's name would tell another's: whoever finds "Springfield, Illinois" has found Illinois."""
        for arm in subgraph.arms:
            for place, node in enumerate(arm.nodes):
                later = (name for other in arm.nodes[place + 1 :] for name in self.graph.list_telling_names(other))
                name = self.graph.find_node(node).name
                if told := find_told(later, name):
                    return f"{name!r} tells {told!r}"
        return ""

    def _walk(self, shape: Sequence[int]) -> Subgraph | None:
        """Return a subgraph of arms of these lengths, or None where the walk comes to a dead end."""
        answer = self._draw_node(range(len(self.graph.nodes)))
        if answer is None:
            return None
        arms: list[Arm] = []
        seen = {answer.id}
        for length in shape:
            path = [answer.id]
            while len(path) <= length:
                near = [node for node in self.graph.list_links(path[-1]) if node not in seen and self._may_stand(node, path)]
                following = self._draw_node(near)
                if following is None or following.language is not answer.language:
                    return None
                path.append(following.id)
                seen.add(following.id)
            arms.append(self._make_arm(path[::-1]))
        return Subgraph(arms=tuple(arms))

    def _may_stand(self, node: int, path: Sequence[int]) -> bool:
        return len(path) < 2 or not self.graph.may_be_linked(node, path[0])

    def _draw_node(self, among: Sequence[int]) -> Node | None:
        """Draw a node that may stand in a question, in a few tries."""
        for node in self.draw.sample(among, min(8, len(among))):
            if self._is_askable(node):
                return self.graph.find_node(node)
        return None

    def _is_askable(self, node: int) -> bool:
        if not self.graph.is_nameable(node) or not 1 < len(self.graph.list_links(node)) <= MOST_LINKS:
            return False
        kinds = [found.value for found in self.graph.list_attributes(node) if found.kind is AttributeKind.KIND]
        return any(len(self.graph.find_having(AttributeKind.KIND, kind, None, None)) >= FEWEST_OF_KIND for kind in kinds)

    def _make_arm(self, nodes: Sequence[int]) -> Arm:
        return Arm(
            hops=tuple(Hop(known=a, found=b, passage=self.draw.choice(self.graph.list_stating(a, b))) for a, b in pairwise(nodes))
        )

    def _add_attributes(self, subgraph: Subgraph) -> list[Condition] | None:
        """Return the conditions of all hops with attributes that leave the answer alone; None where none do."""
        conditions: list[Condition] = []
        for letter, arm in enumerate(subgraph.arms):
            for place, node in enumerate(arm.nodes[:-1]):
                self._add_node(conditions, variable_of(letter, place, len(arm.hops)), node, arm, place)
            last = variable_of(letter, len(arm.hops) - 1, len(arm.hops))
            conditions.append(self._link(f"c{len(conditions) + 1}", ANSWER, last, arm.hops[-1]))
        narrowed = self._narrow(conditions, ANSWER, subgraph.answer, 1)
        return conditions if narrowed else None

    def _add_node(self, conditions: list[Condition], about: str, node: int, arm: Arm, place: int) -> None:
        if place:
            before = about[0] + str(place - 1)
            conditions.append(self._link(f"c{len(conditions) + 1}", about, before, arm.hops[place - 1]))
            self._narrow(conditions, about, node, MOST_CANDIDATES)
        else:
            name, number = self.graph.find_node(node).name, f"c{len(conditions) + 1}"
            conditions.append(Condition(id=number, kind=ConditionKind.NAMED, about=about, node=node, value=name))

    def _link(self, identity: str, about: str, to: str, hop: Hop) -> Condition:
        return Condition(id=identity, kind=ConditionKind.LINKED, about=about, to=to, passage=self.graph.find_passage(hop.passage))

    def _narrow(self, conditions: list[Condition], about: str, node: int, most: int) -> bool:
        """Add attributes of a node, the kind first, until at most so many candidates are left for it."""
        for added in range(MOST_ATTRIBUTES + 1):
            left = find_answers(self.graph, conditions, about)
            if added and len(left) <= most:
                return True
            best = self._choose(self._list_options(conditions, about, node), left, most, kind_first=not added)
            if best is None or added == MOST_ATTRIBUTES:
                return False
            conditions.append(best)
        return False

    def _list_options(self, conditions: Sequence[Condition], about: str, node: int) -> Iterator[Condition]:
        taken = {(c.kind, c.value, c.low) for c in conditions if c.about == about}
        for found in self.graph.list_attributes(node):
            passage = self.graph.find_passage(found.passage)
            option = make_attribute_condition(f"c{len(conditions) + 1}", about, found, passage)
            if (option.kind, option.value, option.low) not in taken:
                yield option

    def _choose(self, options: Iterator[Condition], left: frozenset[int], most: int, kind_first: bool) -> Condition | None:
        """Return the weakest option that narrows enough, else the one that narrows most; None where nothing narrows."""
        weighed = [(find_satisfying(self.graph, option), option) for option in options]
        if kind_first:
            return next((option for _, option in weighed if option.kind is ConditionKind.KIND), None)
        enough = [(-len(has), option.id, option) for has, option in weighed if len(has & left) <= most]
        if enough:
            return min(enough, key=lambda each: each[:2])[2]
        narrowing = [(len(has & left), option) for has, option in weighed if len(has & left) < len(left)]
        return min(narrowing, key=lambda each: each[0])[1] if narrowing else None
