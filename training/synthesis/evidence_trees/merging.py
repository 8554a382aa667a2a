"""Merging a tree bottom-up into a query with its criteria, by one call of a model (DeepRubric section 3.2, prompt of Fig. 11).

The answer becomes a pair as the model gave it. Only evidence is put into the leaves' own words where the model copied or barely
shortened them; whether all of it holds is for `checks.py` to say.
"""

from collections.abc import Mapping
from itertools import accumulate

from pydantic import Field, ValidationError

from app.domain.evidence_rubric import FEWEST, CriterionType, EvidenceCriterion, EvidenceRubric, Variant
from app.domain.missing import Missing
from app.domain.options import to_one_line
from training.synthesis.evidence_trees.checks import FEWEST_LEAVES
from training.synthesis.evidence_trees.pair import Merge, QueryWithRubric, SelectedLeaf
from training.synthesis.evidence_trees.tree import EvidenceTree, TreeNode
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge
from workflows.judging.rubric_verification import RevisedAnswer, find_own_words

FEWEST_CHARS = 200
"""What is shown of each leaf in any case."""


class SelectionAnswer(StepAnswer):
    """A selected leaf."""

    main = "leaf"

    leaf: str = Field(default="", description="id of the leaf")
    reason: str = Field(default="", description="why it is selected")


class MergeStepAnswer(StepAnswer):
    """One step of the merge."""

    inputs: tuple[str, ...] = Field(default=(), description="ids of leaves or of earlier outputs")
    output: str = Field(default="", description="id of the result, such as m1")
    question: str = Field(default="", description="what the inputs ask together")
    reason: str = Field(default="", description="why they belong together")


class MergedCriterionAnswer(RevisedAnswer):
    """One criterion. A weight that is left out is out of form, and does not pass for a negative one."""

    weight: float = Field(default=2.0, description="0 to 1; below 0 for what an answer must keep clear of")


class MergeAnswer(StepAnswer):
    """The merge as a whole. An answer with too few parts is asked for again, with the missing number."""

    selected: tuple[SelectionAnswer, ...] = Field(min_length=FEWEST_LEAVES, description="the selected leaves")
    merges: tuple[MergeStepAnswer, ...] = Field(min_length=1, description="the merges, from the leaves to the question")
    question: str = Field(default="", description="the research question")
    criteria: tuple[MergedCriterionAnswer, ...] = Field(min_length=FEWEST, description="5 to 8 criteria")


MERGE = declare_step("tree_merge", MergeAnswer, max_tokens=5_000)


async def merge_tree(kit: Kit, topic: str, tree: EvidenceTree) -> QueryWithRubric | Missing:
    """Merge a tree into a query with its unrevised criteria; missing if the call fails or its answer makes no rubric."""
    said = await ask_judge(
        kit, MERGE, lambda said: said, topic=topic, tree=_show_tree(tree), leaves=_show_leaves(tree, kit.bounds.evidence_chars)
    )
    if isinstance(said, Missing):
        return said
    return _make_pair(said, {leaf.id: leaf for leaf in tree.leaves}, kit.chat.name)


def _show_tree(tree: EvidenceTree) -> str:
    """Return the nodes, each below its parent and further in."""
    ordered = sorted(tree.nodes[1:], key=lambda node: [int(place) for place in node.id.split(".")])
    return "\n".join(f"{'  ' * node.depth}[{node.id}] {node.question}" for node in (tree.root, *ordered))


def _show_leaves(tree: EvidenceTree, chars: int) -> str:
    """Return the leaves with their first statements, each leaf in an equal share of `chars`."""
    room = chars // len(tree.leaves)
    return "\n\n".join(f"[{leaf.id}] {leaf.question}\n{_list_statements(leaf, room)}" for leaf in tree.leaves)


def _list_statements(leaf: TreeNode, room: int) -> str:
    """Return as many statements as there is room for, and the beginning of the first one in any case."""
    ends = accumulate(len(said) for said in leaf.statements)
    fitting = [said for said, end in zip(leaf.statements, ends, strict=True) if end <= room]
    return "\n".join(f"- {said}" for said in fitting or [leaf.statements[0][: max(room, FEWEST_CHARS)]])


def _make_pair(said: MergeAnswer, leaves: Mapping[str, TreeNode], model: str) -> QueryWithRubric | Missing:
    try:
        criteria = tuple(_make_criterion(number, told, leaves) for number, told in enumerate(said.criteria, 1))
        return QueryWithRubric(
            query=to_one_line(said.question),
            rubric=EvidenceRubric(variant=Variant.UNREVISED, criteria=criteria, model=model),
            selected=tuple(SelectedLeaf(leaf=_read_id(one.leaf), reason=to_one_line(one.reason)) for one in said.selected),
            merges=tuple(_make_merge(one) for one in said.merges),
        )
    except ValidationError as error:
        told = (f"{'.'.join(map(str, one['loc']))}: {one['msg'].removeprefix('Value error, ')}" for one in error.errors()[:3])
        return Missing(f"{MERGE.name}: {'; '.join(told)}")
    except ValueError as error:
        return Missing(f"{MERGE.name}: {error}")


def _make_merge(said: MergeStepAnswer) -> Merge:
    return Merge(
        inputs=tuple(_read_id(one) for one in said.inputs),
        output=_read_id(said.output),
        question=to_one_line(said.question),
        reason=to_one_line(said.reason),
    )


def _make_criterion(number: int, said: MergedCriterionAnswer, leaves: Mapping[str, TreeNode]) -> EvidenceCriterion:
    """Return a criterion as it was told.

    Raises:
        ValueError: its type, description or weight is out of form.
    """
    kind = CriterionType(said.type.strip().lower())
    named = tuple(dict.fromkeys(_read_id(leaf) for leaf in said.leaves))
    stated = [statement for leaf in named if leaf in leaves for statement in leaves[leaf].statements]
    evidence = said.evidence if kind is CriterionType.FACTUAL else ()
    own = [find_own_words(words, stated) or words for words in evidence]
    return EvidenceCriterion(
        id=f"R{number}",
        type=kind,
        description=said.description,
        weight=said.weight,
        source_leaf_ids=named,
        evidence=tuple(dict.fromkeys(own)),
    )


def _read_id(said: str) -> str:
    return said.strip().strip("[]").strip()
