"""Obfuscation (MindDR 4.1): strong clues are weakened, and low-value attributes combined with others.

A step changes conditions. After each one the nodes that satisfy all conditions are found again: unless they are the answer alone
the step is supplemented by another attribute of the answer, or undone. The wording follows at the end.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from random import Random
from typing import NamedTuple

from app.domain.value import Value
from training.synthesis.graph_queries.conditions import (
    ANSWER,
    Condition,
    ConditionKind,
    find_answers,
    find_satisfying,
    make_attribute_condition,
    replace_condition,
    round_outwards,
)
from training.synthesis.graph_queries.constraints import find_needless_hop
from training.synthesis.graph_queries.extraction import category_of
from training.synthesis.graph_queries.graph import Graph
from training.synthesis.graph_queries.nouns import Category

MOST_STEPS = 3
LOW_VALUE = 0.01
"""An attribute that a larger share of the nodes has tells little by itself."""
DESCRIBED_BY = 3


class StepKind(StrEnum):
    """The kind of a step."""

    WEAKEN = "weaken"
    DESCRIBE = "describe"
    COMBINE = "combine"


class ObfuscationStep(Value):
    """A step on one condition. `answers` counts the satisfying nodes after it; one that was undone is not `kept`."""

    kind: StepKind
    condition: str
    supplemented: bool = False
    answers: int
    kept: bool


class ObfuscatedConditions(NamedTuple):
    """The conditions after all steps, and the steps."""

    conditions: tuple[Condition, ...]
    steps: tuple[ObfuscationStep, ...]


class _Proposal(NamedTuple):
    kind: StepKind
    condition: str
    conditions: list[Condition]


def obfuscate(
    graph: Graph, conditions: Sequence[Condition], answer: int, draw: Random, kinds: Sequence[StepKind] = tuple(StepKind)
) -> ObfuscatedConditions:
    """Take up to three steps of these kinds, in an order that is drawn."""
    current, steps = list(conditions), list[ObfuscationStep]()
    wanted = [(c.id, kind) for c in conditions for kind in kinds]
    for identity, kind in draw.sample(wanted, len(wanted)):
        condition = next((c for c in current if c.id == identity), None)
        proposal = _propose(graph, current, condition, kind) if condition else None
        if proposal and sum(step.kept for step in steps) < MOST_STEPS:
            step, current = _try_step(graph, current, proposal, answer)
            steps.append(step)
    return ObfuscatedConditions(tuple(current), tuple(steps))


def list_weakened(before: Sequence[Condition], after: Sequence[Condition]) -> list[Condition]:
    """Return the conditions that hold no more as they were: what they said must not stand in the question."""
    kept = {(c.kind, c.about, c.value, c.low, c.high) for c in after}
    return [c for c in before if (c.kind, c.about, c.value, c.low, c.high) not in kept]


def _try_step(
    graph: Graph, current: list[Condition], proposal: _Proposal, answer: int
) -> tuple[ObfuscationStep, list[Condition]]:
    changed, supplemented = proposal.conditions, False
    left = find_answers(graph, changed)
    if answer in left and len(left) > 1:
        more = _choose_supplement(graph, changed, answer, left)
        changed, supplemented = (changed, False) if more is None else ([*changed, more], True)
        left = find_answers(graph, changed)
    kept = left == {answer} and not find_needless_hop(graph, changed)
    step = ObfuscationStep(
        kind=proposal.kind, condition=proposal.condition, supplemented=supplemented, answers=len(left), kept=kept
    )
    return step, changed if kept else current


def _propose(graph: Graph, current: list[Condition], condition: Condition, kind: StepKind) -> _Proposal | None:
    if kind is StepKind.DESCRIBE:
        changed = _describe(graph, current, condition)
    elif kind is StepKind.COMBINE:
        changed = _combine(graph, current, condition)
    else:
        weaker = weaken(condition)
        changed = replace_condition(current, weaker) if weaker else None
    return _Proposal(kind, condition.id, changed) if changed else None


def weaken(condition: Condition) -> Condition | None:
    """Return a weaker form: a decade for a year, bounds for an amount, a category for a kind; None where there is none."""
    if condition.low is not None and condition.low == condition.high:
        decade = condition.low // 10 * 10
        low, high = (decade, decade + 9) if condition.kind is ConditionKind.YEAR else round_outwards(condition.low)
        return condition.model_copy(update={"low": low, "high": high})
    if condition.kind is ConditionKind.KIND:
        category = category_of(condition.value)
        if category is not Category.OTHER:
            return condition.model_copy(update={"kind": ConditionKind.CATEGORY, "value": category.value})
    return None


def _describe(graph: Graph, current: Sequence[Condition], named: Condition) -> list[Condition] | None:
    """Replace the name of a start by what is said about it; None where there is nothing to say."""
    if named.kind is not ConditionKind.NAMED or named.node is None:
        return None
    options = list(_list_options(graph, current, named.about, named.node))
    kinds = [option for option in options if option.kind is ConditionKind.KIND][:1]
    others = [option for option in options if option.kind is not ConditionKind.KIND][: DESCRIBED_BY - 1]
    if not kinds or not others:
        return None
    fresh = [option.model_copy(update={"id": f"{named.id}{'xyz'[n]}"}) for n, option in enumerate([*kinds, *others])]
    return [c for each in current for c in (fresh if each.id == named.id else [each])]


def _combine(graph: Graph, current: Sequence[Condition], low_value: Condition) -> list[Condition] | None:
    """Add another attribute of the answer to one that tells little."""
    if low_value.about != ANSWER or low_value.kind in (ConditionKind.LINKED, ConditionKind.NAMED):
        return None
    if len(find_satisfying(graph, low_value)) < LOW_VALUE * len(graph.nodes):
        return None
    answers = find_answers(graph, current)
    more = _choose_supplement(graph, current, min(answers), answers) if len(answers) == 1 else None
    return [*current, more] if more else None


def _choose_supplement(graph: Graph, current: Sequence[Condition], answer: int, left: frozenset[int]) -> Condition | None:
    """Return the attribute of the answer that most nodes have among those that leave it alone."""
    options = [(find_satisfying(graph, option), option) for option in _list_options(graph, current, ANSWER, answer)]
    enough = [(-len(has), option.id, option) for has, option in options if has & left == {answer}]
    return min(enough, key=lambda each: each[:2])[2] if enough else None


def _list_options(graph: Graph, current: Sequence[Condition], about: str, node: int) -> Iterator[Condition]:
    """Yield what is said about a node and is no condition yet; years and amounts in their weaker form."""
    taken = {(c.kind, c.value) for c in current if c.about == about}
    for found in graph.list_attributes(node):
        option = make_attribute_condition(f"c{len(current) + 1}s", about, found, graph.find_passage(found.passage))
        if (option.kind, option.value) not in taken:
            yield (weaken(option) or option) if option.low is not None else option
