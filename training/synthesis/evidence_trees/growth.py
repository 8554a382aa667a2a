"""Growing a tree from a seed topic, level by level (DeepRubric Algorithm 1, lines 5 to 20).

Nodes of one level grow at the same time. What a node becomes depends on its path alone, so the tree does not depend on which call
ends first.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from app.domain.missing import Missing
from app.domain.options import to_one_line
from training.synthesis.evidence_trees.expansion import Proposal, drop_proposal, pass_gate, propose_children, select_proposals
from training.synthesis.evidence_trees.grounding import Grounding, ground_question
from training.synthesis.evidence_trees.topics import SeedTopic
from training.synthesis.evidence_trees.tree import (
    FEWEST_CHILDREN,
    MOST_CHILDREN,
    ROOT,
    EvidenceTree,
    FallenChild,
    FallReason,
    LeafReason,
    TreeNode,
    name_child,
    trace_path,
)
from training.synthesis.source_corpus import SourceCorpus
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge


class RootAnswer(StepAnswer):
    """The question of the root."""

    main = "question"

    question: str = Field(default="", description="the broad question; empty if the topic carries no research")


ROOT_STEP = declare_step("tree_root", RootAnswer, max_tokens=300)


@dataclass(frozen=True, slots=True)
class _Branching:
    """What became of a node: its children, or the reason for none. `failure` says why a call gave no usable answer."""

    children: tuple[TreeNode, ...] = ()
    leaf: LeafReason | None = None
    fallen: tuple[FallenChild, ...] = ()
    lost: int = 0
    failure: str = ""


async def plant_root(kit: Kit, corpus: SourceCorpus, topic: SeedTopic) -> TreeNode | Missing:
    """Make the root: a broad question about a topic, with its evidence. Missing if the topic carries none."""

    def read(said: RootAnswer) -> str:
        return to_one_line(said.question)

    question = await ask_judge(kit, ROOT_STEP, read, topic=topic.title, opening=topic.opening)
    if isinstance(question, Missing):
        return question
    if not question:
        return Missing("the model finds no research in the topic")
    found = await ground_question(kit, corpus, question)
    if not found.passages:
        return Missing(found.failure or "no passage grounds the root")
    return TreeNode(id=ROOT, depth=0, question=question, passages=found.passages)


async def grow_tree(kit: Kit, corpus: SourceCorpus, root: TreeNode, most_children: Sequence[int] = MOST_CHILDREN) -> EvidenceTree:
    """Grow a tree from its root. A node of depth d has at most `most_children[d]` children; one without any says why."""
    nodes = {root.id: root}
    fallen: list[FallenChild] = []
    failures: list[str] = []
    lost = 0
    frontier: tuple[TreeNode, ...] = (root,)
    while frontier:
        standing = tuple(nodes.values())
        most = most_children[frontier[0].depth] if frontier[0].depth < len(most_children) else 0
        grown = await asyncio.gather(*(_expand_node(kit, corpus, node, trace_path(standing, node), most) for node in frontier))
        for node, branching in zip(frontier, grown, strict=True):
            nodes[node.id] = node.model_copy(update={"leaf": branching.leaf})
            fallen += branching.fallen
            lost += branching.lost
            failures += [f"{node.id}: {branching.failure}"] if branching.failure else []
        frontier = tuple(child for branching in grown for child in branching.children)
        nodes |= {child.id: child for child in frontier}
    return EvidenceTree(nodes=tuple(nodes.values()), fallen=tuple(fallen), failures="; ".join(failures), lost_statements=lost)


async def _expand_node(kit: Kit, corpus: SourceCorpus, node: TreeNode, path: Sequence[TreeNode], most: int) -> _Branching:
    if not most:
        return _Branching(leaf=LeafReason.DEPTH)
    proposed = await propose_children(kit, node, path, most)
    if isinstance(proposed, Missing):
        return _Branching(leaf=LeafReason.FAILED, failure=proposed.reason)
    if not proposed:
        return _Branching(leaf=LeafReason.ATOMIC)
    selected, fallen = select_proposals(proposed, node, path, most)
    if len(selected) < FEWEST_CHILDREN:
        alone = [drop_proposal(one, node, FallReason.ALONE) for one in selected]
        return _Branching(leaf=LeafReason.ATOMIC, fallen=(*fallen, *alone))
    gated = await pass_gate(kit, node, path, selected)
    if isinstance(gated, Missing):
        return _Branching(leaf=LeafReason.FAILED, fallen=tuple(fallen), failure=gated.reason)
    passing, stopped = gated
    fallen += stopped
    if len(passing) < FEWEST_CHILDREN:
        return _Branching(leaf=LeafReason.GATED, fallen=tuple(fallen))
    return await _ground_children(kit, corpus, node, passing, fallen)


async def _ground_children(
    kit: Kit, corpus: SourceCorpus, node: TreeNode, proposals: Sequence[Proposal], fallen: list[FallenChild]
) -> _Branching:
    """Return the children that passages ground; none of them if fewer than two are left."""
    found = await asyncio.gather(*(ground_question(kit, corpus, proposal.question) for proposal in proposals))
    children: list[TreeNode] = []
    for proposal, grounding in zip(proposals, found, strict=True):
        if grounding.passages:
            children.append(_make_child(node, len(children) + 1, proposal, grounding))
        else:
            fallen.append(drop_proposal(proposal, node, FallReason.UNGROUNDED, grounding.failure))
    lost = sum(grounding.lost for grounding in found)
    if len(children) < FEWEST_CHILDREN:
        alone = [drop_proposal(one, node, FallReason.ALONE) for one, its in zip(proposals, found, strict=True) if its.passages]
        return _Branching(leaf=LeafReason.UNSUPPORTED, fallen=(*fallen, *alone), lost=lost)
    return _Branching(children=tuple(children), fallen=tuple(fallen), lost=lost)


def _make_child(node: TreeNode, place: int, proposal: Proposal, grounding: Grounding) -> TreeNode:
    return TreeNode(
        id=name_child(node, place),
        parent=node.id,
        depth=node.depth + 1,
        facet=proposal.facet,
        question=proposal.question,
        passages=grounding.passages,
    )
