"""The three constraints on a subgraph, against brute force over small random graphs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.evidence import Passage, Source, snapshot_hash
from training.synthesis.graph_queries.conditions import ANSWER, Condition, ConditionKind, find_answers
from training.synthesis.graph_queries.constraints import (
    HopSearch,
    find_dependence,
    find_needless_hop,
    find_shortcut,
    find_unreachable,
)
from training.synthesis.graph_queries.nouns import Arm, AttributeKind, Category, Hop, StatingSentence, Subgraph

NODES = 6
COLOURS = ("red", "blue")
SNAPSHOT = snapshot_hash("text")
pairs = st.frozensets(st.sampled_from(list(combinations(range(NODES), 2))))


@dataclass(frozen=True)
class SmallGraph:
    """A graph of six nodes, each of which may have a colour for its kind. `together` are pairs that a paragraph names."""

    links: frozenset[tuple[int, int]]
    colours: tuple[str, ...]
    together: frozenset[tuple[int, int]] = frozenset()
    nodes: frozenset[int] = frozenset(range(NODES))

    def find_linked(self, nodes: Iterable[int]) -> frozenset[int]:
        return frozenset(other for node in nodes for other in self.nodes if self.may_be_linked(node, other))

    def find_having(self, kind: AttributeKind, value: str, low: float | None, high: float | None) -> frozenset[int]:
        return frozenset(node for node, colour in enumerate(self.colours) if colour == value)

    def find_category(self, category: Category) -> frozenset[int]:
        return frozenset()

    def may_be_linked(self, one: int, other: int) -> bool:
        return (min(one, other), max(one, other)) in self.links

    def stand_together(self, one: int, other: int) -> bool:
        return (min(one, other), max(one, other)) in self.together


graphs = st.builds(SmallGraph, pairs, st.tuples(*[st.sampled_from(COLOURS)] * NODES), pairs)
shapes = st.sampled_from([(1,), (2,), (3,), (1, 1), (2, 1)])


def make_conditions(shape: Sequence[int], starts: Sequence[int], colour: str) -> list[Condition]:
    made: list[Condition] = []
    for letter, length in zip("ab", shape, strict=False):
        made.append(Condition(id=f"{letter}0", kind=ConditionKind.NAMED, about=f"{letter}0", node=starts["ab".index(letter)]))
        for place in range(1, length + 1):
            about = ANSWER if place == length else f"{letter}{place}"
            made.append(Condition(id=f"{letter}{place}", kind=ConditionKind.LINKED, about=about, to=f"{letter}{place - 1}"))
    return [*made, Condition(id="k", kind=ConditionKind.KIND, about=ANSWER, value=colour)]


def holds(graph: SmallGraph, condition: Condition, meant: Mapping[str, int]) -> bool:
    if condition.kind is ConditionKind.LINKED:
        return graph.may_be_linked(meant[condition.about], meant[condition.to])
    if condition.kind is ConditionKind.NAMED:
        return meant[condition.about] == condition.node
    return graph.colours[meant[condition.about]] == condition.value


def try_all(graph: SmallGraph, conditions: Sequence[Condition]) -> set[int]:
    """Return the answers of all assignments of nodes to variables that meet all conditions."""
    variables = sorted({name for c in conditions for name in (c.about, c.to) if name} | {ANSWER})
    assignments = (dict(zip(variables, nodes, strict=True)) for nodes in product(range(NODES), repeat=len(variables)))
    return {meant[ANSWER] for meant in assignments if all(holds(graph, c, meant) for c in conditions)}


@given(graphs, shapes, st.tuples(*[st.integers(0, NODES - 1)] * 2), st.sampled_from(COLOURS))
def test_answers_are_those_of_all_assignments(
    graph: SmallGraph, shape: tuple[int, ...], starts: tuple[int, int], colour: str
) -> None:
    conditions = make_conditions(shape, starts, colour)
    assert find_answers(graph, conditions) == try_all(graph, conditions)


@given(graphs, shapes, st.tuples(*[st.integers(0, NODES - 1)] * 2), st.sampled_from(COLOURS))
def test_a_hop_is_needed_if_without_it_more_than_one_answer_is_left(
    graph: SmallGraph, shape: tuple[int, ...], starts: tuple[int, int], colour: str
) -> None:
    conditions = make_conditions(shape, starts, colour)
    links = [c for c in conditions if c.kind is ConditionKind.LINKED]
    # What leads to a dropped link and nowhere else says nothing of the answer, so it may as well be met or not.
    left = [try_all(graph, keep_leading(conditions, dropped.id)) for dropped in links]
    assert bool(find_needless_hop(graph, conditions)) == any(len(answers) < 2 for answers in left)


def keep_leading(conditions: Sequence[Condition], dropped: str) -> list[Condition]:
    """Return the conditions from which links still lead to the answer when one link is dropped."""
    links = [c for c in conditions if c.kind is ConditionKind.LINKED and c.id != dropped]
    leading = {ANSWER}
    while more := {c.to for c in links if c.about in leading} - leading:
        leading |= more
    return [c for c in conditions if c.about in leading and c.id != dropped]


@st.composite
def subgraphs(draw: st.DrawFn) -> tuple[Subgraph, list[StatingSentence]]:
    lengths = draw(shapes)
    answer = draw(st.integers(0, NODES - 1))
    arms, stated = [], []
    for length in lengths:
        nodes = [*draw(st.lists(st.integers(0, NODES - 1), min_size=length, max_size=length)), answer]
        arms.append(Arm(hops=tuple(Hop(known=a, found=b, passage=0) for a, b in pairwise(nodes))))
        stated += [make_stated(draw(st.integers(0, 4)), draw(st.integers(0, 3))) for _ in range(length)]
    return Subgraph(arms=tuple(arms)), stated


def make_stated(document: int, place: int) -> StatingSentence:
    start = place * 15
    return StatingSentence(
        url=f"d:{document}", title="", snapshot=snapshot_hash(str(document)), start=start, end=start + 20, text=""
    )


@given(graphs, subgraphs())
def test_a_shortcut_is_any_pair_that_a_document_or_paragraph_joins(
    graph: SmallGraph, drawn: tuple[Subgraph, list[StatingSentence]]
) -> None:
    subgraph, _ = drawn
    far = [node for arm in subgraph.arms for node in arm.nodes[:-2]]
    joined = [n for n in far if graph.may_be_linked(n, subgraph.answer) or graph.stand_together(n, subgraph.answer)]
    assert bool(find_shortcut(graph, subgraph)) == bool(joined)


@given(subgraphs())
def test_arms_are_independent_if_no_two_of_their_parts_are_the_same(drawn: tuple[Subgraph, list[StatingSentence]]) -> None:
    subgraph, stated = drawn
    arm_of = [number for number, arm in enumerate(subgraph.arms) for _ in arm.hops]
    nodes = [node for arm in subgraph.arms for node in arm.nodes[:-1]]
    same_nodes = any(a == b for a, b in combinations([*nodes, subgraph.answer], 2))
    same_edges = any({a.known, a.found} == {b.known, b.found} for a, b in combinations(subgraph.hops, 2))
    shared = any(
        one_arm != other_arm and a.snapshot == b.snapshot and a.start < b.end and b.start < a.end
        for (one_arm, a), (other_arm, b) in combinations(list(zip(arm_of, stated, strict=True)), 2)
    )
    assert bool(find_dependence(subgraph, stated)) == (same_nodes or same_edges or shared)


@given(st.lists(st.tuples(st.lists(st.integers(0, 3), max_size=5), st.integers(0, 3)), max_size=4), st.integers(1, 5))
def test_a_hop_is_reachable_if_its_passage_is_among_the_first_results(hops: list[tuple[list[int], int]], results: int) -> None:
    source = Source(url="d:0", title="", snapshot=SNAPSHOT)

    def state(place: int) -> StatingSentence:
        return StatingSentence(url="d:0", title="", snapshot=SNAPSHOT, start=place * 10, end=place * 10 + 10, text="")

    searches = [
        HopSearch("q", [state(wanted)], [Passage(source=source, text="", start=n * 10, end=n * 10 + 10) for n in found])
        for found, wanted in hops
    ]
    assert bool(find_unreachable(searches, results)) == any(wanted not in found[:results] for found, wanted in hops)


@pytest.mark.parametrize(("start", "end", "within"), [(0, 100, True), (40, 100, True), (51, 100, False), (0, 49, False)])
def test_a_passage_counts_if_it_has_most_of_the_sentence(start: int, end: int, within: bool) -> None:
    stated = StatingSentence(url="d:0", title="", snapshot=SNAPSHOT, start=0, end=100, text="")
    found = Passage(source=Source(url="d:0", title="", snapshot=SNAPSHOT), text="", start=start, end=end)
    assert stated.is_within(found) == within
