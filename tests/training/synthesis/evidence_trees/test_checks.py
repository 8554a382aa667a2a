"""The checks of a query with its rubric: what they let pass, and that each planted violation breaks the check of its name."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.evidence_rubric import EvidenceRubric, Variant
from training.synthesis.evidence_trees.checks import CHECKS, find_violations, say_the_same
from training.synthesis.evidence_trees.pair import Merge, QueryWithRubric, SelectedLeaf
from training.synthesis.evidence_trees.tree import EvidenceTree, GroundingPassage, LeafReason, Statement, TreeNode

NAMES = ["harbour", "granary", "furnace", "archive", "orchard", "foundry", "quarry", "brewery"]
QUERY = "Which forces explain how the town grew, and how firm is the evidence?"


def make_passage(statement: str) -> GroundingPassage:
    said = Statement(text=statement, start=0, end=len(statement))
    return GroundingPassage(address="a", title="T", snapshot="0" * 64, start=0, end=len(statement), statements=(said,))


def state(name: str) -> str:
    return f"The {name} of the town opened its gates to foreign merchants."


def make_tree(names: list[str]) -> EvidenceTree:
    root = TreeNode(id="0", depth=0, question="How did the town grow?", passages=(make_passage("The town grew."),))
    leaves = [
        TreeNode(
            id=str(place),
            parent="0",
            depth=1,
            question=f"What did the {name} do?",
            passages=(make_passage(state(name)),),
            leaf=LeafReason.ATOMIC,
        )
        for place, name in enumerate(names, 1)
    ]
    return EvidenceTree(nodes=(root, *leaves))


def make_criterion(number: int, leaf: str, name: str, **changes: Any) -> dict[str, Any]:
    told = {"id": f"R{number}", "type": "factual", "description": f"Tells whom the {name} let in.", "weight": 0.5}
    return told | {"source_leaf_ids": (leaf,), "evidence": (state(name),)} | changes


@st.composite
def pairs(draw: st.DrawFn) -> tuple[QueryWithRubric, EvidenceTree]:
    """Draw a tree, leaves of it, and merges of these in any shape: all sound."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=3, max_size=6, unique=True))
    tree = make_tree(names)
    chosen = draw(st.lists(st.sampled_from(tree.leaves), min_size=2, max_size=len(names) - 1, unique_by=lambda leaf: leaf.id))
    waiting, merges = [leaf.id for leaf in chosen], list[Merge]()
    while len(waiting) > 1 or not merges:
        taken = draw(st.lists(st.sampled_from(waiting), min_size=2, max_size=3, unique=True))
        output = f"m{len(merges) + 1}"
        waiting = [one for one in waiting if one not in taken] + [output]
        asks = QUERY if len(waiting) == 1 else f"What do {len(taken)} parts tell?"
        merges.append(Merge(inputs=tuple(taken), output=output, question=asks, reason="alike"))
    facts = [make_criterion(n, leaf.id, names[int(leaf.id) - 1]) for n, leaf in enumerate(chosen, 1)]
    reasons = [
        {"id": f"L{number}", "type": "logical", "description": f"Weighs side {number}.", "weight": draw(st.floats(-1, 1))}
        for number in range(4)
    ]
    rubric = EvidenceRubric.model_validate({"variant": Variant.UNREVISED, "criteria": [*facts, *reasons]})
    selected = tuple(SelectedLeaf(leaf=leaf.id, reason="a side") for leaf in chosen)
    return QueryWithRubric(query=QUERY, rubric=rubric, selected=selected, merges=tuple(merges)), tree


Change = Callable[[dict[str, Any], EvidenceTree], None]


def select_root(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["selected"][0]["leaf"] = "0"


def take_reason(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["merges"][0]["reason"] = ""


def name_other_leaf(pair: dict[str, Any], tree: EvidenceTree) -> None:
    chosen = {one["leaf"] for one in pair["selected"]}
    pair["rubric"]["criteria"][0]["source_leaf_ids"] += tuple(leaf.id for leaf in tree.leaves if leaf.id not in chosen)


def change_evidence(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["rubric"]["criteria"][0]["evidence"] = ("The mayor burned all records of the year.",)


def use_leaf_twice(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["merges"] += (pair["merges"][-1] | {"inputs": pair["merges"][0]["inputs"], "output": "again"},)


def leave_leaf_out(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["merges"][0]["inputs"] = pair["merges"][0]["inputs"][1:]


def name_itself(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["merges"][-1]["inputs"] += (pair["merges"][-1]["output"],)


def change_query(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["query"] = "Who built the walls?"


def use_one_leaf(pair: dict[str, Any], _: EvidenceTree) -> None:
    first = pair["rubric"]["criteria"][0]
    for one in pair["rubric"]["criteria"]:
        if one["type"] == "factual":
            one |= {"source_leaf_ids": first["source_leaf_ids"], "evidence": first["evidence"]}


def ask_a_leaf(pair: dict[str, Any], tree: EvidenceTree) -> None:
    pair["query"] = pair["merges"][-1]["question"] = tree.leaves[0].question


def list_criteria(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["query"] = " ".join([pair["query"], *(one["description"] for one in pair["rubric"]["criteria"][:2])])


def quote_evidence(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["query"] += f" Is it so that {pair['rubric']['criteria'][0]['evidence'][0]}"


def write_lines(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["query"] += "\n- the walls\n- the gates"


def enumerate_inline(pair: dict[str, Any], _: EvidenceTree) -> None:
    pair["query"] += " Treat: 1) the walls; 2) the gates."


BREAKS: Mapping[str, list[Change]] = {
    "selects_leaves": [select_root],
    "gives_reasons": [take_reason],
    "draws_on_selected": [name_other_leaf],
    "states_evidence": [change_evidence],
    "has_tree_trace": [use_leaf_twice, leave_leaf_out, name_itself],
    "ends_in_query": [change_query],
    "needs_several_leaves": [use_one_leaf, ask_a_leaf],
    "hides_rubric": [list_criteria, quote_evidence, write_lines, enumerate_inline],
}


@given(pairs())
def test_sound_pairs_break_nothing(drawn: tuple[QueryWithRubric, EvidenceTree]) -> None:
    assert find_violations(*drawn) == ()


@pytest.mark.parametrize(("name", "change"), [(name, change) for name, changes in BREAKS.items() for change in changes])
def test_a_violation_breaks_the_check_of_its_name(name: str, change: Change) -> None:
    @given(pairs())
    def breaks(drawn: tuple[QueryWithRubric, EvidenceTree]) -> None:
        pair, tree = drawn
        changed = pair.model_dump()
        change(changed, tree)
        assert name in find_violations(QueryWithRubric.model_validate(changed), tree)

    breaks()


def test_leaves_that_ask_the_same_are_not_selected_together() -> None:
    tree = make_tree(["harbour", "harbour", "granary"])
    merge = Merge(inputs=("1", "2", "3"), output="m1", question=QUERY, reason="alike")
    criteria = [make_criterion(n, str(n), name) for n, name in enumerate(["harbour", "harbour", "granary"], 1)]
    criteria = [one | {"description": f"{one['description']} {n}"} for n, one in enumerate([*criteria, *criteria], 1)]
    rubric = EvidenceRubric.model_validate(
        {"variant": "unrevised", "criteria": [one | {"id": f"R{n}"} for n, one in enumerate(criteria, 1)]}
    )
    selected = tuple(SelectedLeaf(leaf=leaf.id, reason="a side") for leaf in tree.leaves)
    pair = QueryWithRubric(query=QUERY, rubric=rubric, selected=selected, merges=(merge,))
    assert "selects_distinct_leaves" in find_violations(pair, tree)
    assert set(BREAKS) | {"selects_distinct_leaves"} == set(CHECKS)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What risks does the Erie Canal run?", "Which risks did the Erie canals run?", True),
        ("What risks does the Erie Canal run?", "What did the Erie Canal cost?", False),
        ("How did tolls change in 1850?", "How did tolls change in 1860?", False),
        ("灵渠有哪些风险和不足？", "灵渠有哪些风险与不足？", True),
        ("灵渠有哪些风险？", "灵渠的规模有多大？", False),
        ("?", "!", False),
    ],
)
def test_texts_that_share_most_stems_and_all_numbers_say_the_same(one: str, other: str, same: bool) -> None:
    assert say_the_same(one, other) is same
