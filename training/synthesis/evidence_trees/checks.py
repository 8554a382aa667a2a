"""The checks of a query with its rubric, each a pure predicate. A pair that breaks one is refused.

    find_violations(pair, tree) -> ("sources_selected", ...)

Rules that the paper leaves open are stated here:
- one leaf answers the query if all factual evidence stands in it, or if the query repeats its question;
- a query lists its rubric if it has the words of two criteria, a statement of their evidence, or a list;
- two texts say the same if they share four fifths of their stems, and have the same numbers.
"""

import re
from collections.abc import Callable, Mapping
from itertools import combinations

from app.domain.evidence_rubric import CriterionType
from retrieval.language.tokens import list_stems
from training.synthesis.evidence_trees.pair import QueryWithRubric
from training.synthesis.evidence_trees.tree import EvidenceTree
from workflows.agents.quoting import locate_quote

ALIKE = 0.8
FEWEST_LEAVES = 2
LISTED_CRITERIA = 2
_LIST = re.compile(
    r"^\s*[-*•]\s|(?:^|[\s:：;；,，。])\(?1[.)、）](?!\d).*?(?:^|[\s:：;；,，。])\(?2[.)、）](?!\d)|一、.*二、|^一、",
    re.MULTILINE | re.DOTALL,
)
Predicate = Callable[[QueryWithRubric, EvidenceTree], bool]


def say_the_same(one: str, other: str) -> bool:
    """Say whether two short texts say the same: four fifths of their stems are common to both, and all numbers."""
    mine, theirs = set(list_stems(one)), set(list_stems(other))
    if not mine or not theirs:
        return one.split() == other.split()
    return _numbers_of(mine) == _numbers_of(theirs) and len(mine & theirs) >= ALIKE * len(mine | theirs)


def _numbers_of(stems: set[str]) -> set[str]:
    return {stem for stem in stems if any(char.isdigit() for char in stem)}


def selects_leaves(pair: QueryWithRubric, tree: EvidenceTree) -> bool:
    """Say whether two leaves or more are selected, each once, and each a leaf of the tree."""
    ids = pair.selected_ids
    return len(ids) >= FEWEST_LEAVES and len(set(ids)) == len(ids) and set(ids) <= {leaf.id for leaf in tree.leaves}


def selects_distinct_leaves(pair: QueryWithRubric, tree: EvidenceTree) -> bool:
    """Say whether no two selected leaves ask the same."""
    questions = [leaf.question for leaf in tree.leaves if leaf.id in pair.selected_ids]
    return not any(say_the_same(one, other) for one, other in combinations(questions, 2))


def gives_reasons(pair: QueryWithRubric, tree: EvidenceTree) -> bool:
    """Say whether every selected leaf and every merge has a reason."""
    reasons = [*(leaf.reason for leaf in pair.selected), *(merge.reason for merge in pair.merges)]
    return all(reason.strip() for reason in reasons)


def draws_on_selected(pair: QueryWithRubric, tree: EvidenceTree) -> bool:
    """Say whether every criterion names selected leaves only."""
    return all(set(criterion.source_leaf_ids) <= set(pair.selected_ids) for criterion in pair.rubric.criteria)


def states_evidence(pair: QueryWithRubric, tree: EvidenceTree) -> bool:
    """Say whether all evidence of factual criteria stands in the statements of the leaves that they name."""
    stated = {leaf.id: leaf.statements for leaf in tree.leaves}
    return all(
        any(_stands_in(piece, statement) for leaf in criterion.source_leaf_ids for statement in stated.get(leaf, ()))
        for criterion in pair.rubric.criteria
        for piece in criterion.evidence
    )


def _stands_in(piece: str, statement: str) -> bool:
    return piece == statement or locate_quote(statement, piece) is not None


def has_tree_trace(pair: QueryWithRubric, tree: EvidenceTree) -> bool:
    """Say whether the trace is a tree: each selected leaf and each merge but the last goes into exactly one later merge."""
    waiting = set(pair.selected_ids)
    for merge in pair.merges:
        inputs = set(merge.inputs)
        if len(inputs) != len(merge.inputs) or not inputs <= waiting or merge.output in pair.selected_ids:
            return False
        waiting = waiting - inputs | {merge.output}
    outputs = [merge.output for merge in pair.merges]
    return bool(outputs) and len(set(outputs)) == len(outputs) and waiting == {outputs[-1]}


def ends_in_query(pair: QueryWithRubric, tree: EvidenceTree) -> bool:
    """Say whether the last merge gives the query."""
    return bool(pair.merges) and pair.merges[-1].question.casefold().split() == pair.query.casefold().split()


def needs_several_leaves(pair: QueryWithRubric, tree: EvidenceTree) -> bool:
    """Say whether no leaf answers the query alone."""
    evidence = [
        piece for criterion in pair.rubric.criteria if criterion.type is CriterionType.FACTUAL for piece in criterion.evidence
    ]
    leaves = [leaf for leaf in tree.leaves if leaf.id in pair.selected_ids]
    suffices = [all(any(_stands_in(piece, said) for said in leaf.statements) for piece in evidence) for leaf in leaves]
    return not any(suffices) and not any(say_the_same(leaf.question, pair.query) for leaf in tree.leaves)


def hides_rubric(pair: QueryWithRubric, tree: EvidenceTree) -> bool:
    """Say whether the query does not list its rubric."""
    asked = set(list_stems(pair.query))
    told = [set(list_stems(criterion.description)) for criterion in pair.rubric.criteria]
    listed = sum(bool(stems) and len(stems & asked) >= ALIKE * len(stems) for stems in told)
    quoted = any(locate_quote(pair.query, piece) for criterion in pair.rubric.criteria for piece in criterion.evidence)
    return listed < LISTED_CRITERIA and not quoted and not _LIST.search(pair.query)


CHECKS: Mapping[str, Predicate] = {
    check.__name__: check
    for check in (
        selects_leaves,
        selects_distinct_leaves,
        gives_reasons,
        draws_on_selected,
        states_evidence,
        has_tree_trace,
        ends_in_query,
        needs_several_leaves,
        hides_rubric,
    )
}
REVISED_CHECKS: Mapping[str, Predicate] = {
    name: check for name, check in CHECKS.items() if check not in (ends_in_query, has_tree_trace, gives_reasons)
}
"""The checks of a pair after its revision, which leaves the trace as it was."""


def find_violations(pair: QueryWithRubric, tree: EvidenceTree, checks: Mapping[str, Predicate] = CHECKS) -> tuple[str, ...]:
    """Return the names of the checks that a pair breaks."""
    return tuple(name for name, holds in checks.items() if not holds(pair, tree))
