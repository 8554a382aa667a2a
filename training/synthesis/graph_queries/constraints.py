"""The three constraints on a subgraph (MindDR 4.1), each a pure predicate: it says what is wrong, or nothing."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from app.domain.evidence import Passage
from training.synthesis.graph_queries.conditions import Condition, ConditionKind, drop_condition, find_answers
from training.synthesis.graph_queries.graph import GraphView
from training.synthesis.graph_queries.nouns import StatingSentence, Subgraph

SEARCH_RESULTS = 10
"""The `k` of reachability."""


class HopSearch(NamedTuple):
    """A search for the next entity of a chain: a query made of what is known by then, and its results, best first.

    Any passage of `wanted` will do.
    """

    query: str
    wanted: Sequence[StatingSentence]
    found: Sequence[Passage]

    @property
    def rank(self) -> int:
        """The place of the first wanted passage among the results, from 1; 0 where none is."""
        places = (n for n, passage in enumerate(self.found, 1) if any(wanted.is_within(passage) for wanted in self.wanted))
        return next(places, 0)


class Neighbourhood(Protocol):
    """What necessity looks at."""

    def may_be_linked(self, one: int, other: int) -> bool:
        """Say whether the document of one node may name the other."""
        ...

    def stand_together(self, one: int, other: int) -> bool:
        """Say whether a paragraph of any document may name both."""
        ...


def find_unreachable(searches: Sequence[HopSearch], results: int = SEARCH_RESULTS) -> str:
    """Reachability: each hop's passage is among the first results of its search."""
    lost = [n for n, hop in enumerate(searches, 1) if not 0 < hop.rank <= results]
    return f"search {lost[0]} does not find its passage within {results} results" if lost else ""


def find_shortcut(graph: Neighbourhood, subgraph: Subgraph) -> str:
    """Necessity, in texts: nothing joins a start or an intermediate node to the answer but the last hop."""
    for arm in subgraph.arms:
        for node in arm.nodes[:-2]:
            if graph.may_be_linked(node, subgraph.answer):
                return f"a document links node {node} and the answer"
            if graph.stand_together(node, subgraph.answer):
                return f"a paragraph names node {node} and the answer"
    return ""


def find_needless_hop(graph: GraphView, conditions: Sequence[Condition]) -> str:
    """Necessity, in conditions: without any one hop more than one answer is left."""
    for condition in conditions:
        if condition.kind is ConditionKind.LINKED and len(find_answers(graph, drop_condition(conditions, condition.id))) < 2:
            return f"hop {condition.id} is not needed"
    return ""


def find_dependence(subgraph: Subgraph, stated: Sequence[StatingSentence]) -> str:
    """Independence: the arms share no node but the answer, no edge and no passage. `stated` is in the order of the hops."""
    nodes = [node for arm in subgraph.arms for node in arm.nodes[:-1]]
    if len(set(nodes)) < len(nodes) or subgraph.answer in nodes:
        return "a node stands twice"
    edges = [frozenset((hop.known, hop.found)) for hop in subgraph.hops]
    if len(set(edges)) < len(edges):
        return "an edge stands twice"
    arm_of = [n for n, arm in enumerate(subgraph.arms) for _ in arm.hops]
    spans = sorted((passage.snapshot, passage.start, passage.end, arm) for passage, arm in zip(stated, arm_of, strict=True))
    for (document, _, end, arm), (other_document, start, _, other_arm) in pairwise(spans):
        if document == other_document and start < end and arm != other_arm:
            return "two arms rest on one passage"
    return ""
