"""What a row of a set of evidence trees has besides its query, and the numbers that the set's report counts."""

from app.domain.evidence_rubric import CriterionType, EvidenceRubric
from app.domain.value import Value
from training.synthesis.evidence_trees.audit import TreeAudit
from training.synthesis.evidence_trees.pair import QueryWithRubric
from training.synthesis.evidence_trees.tree import DEEPEST, EvidenceTree


class TreeRow(Value):
    """The verified rubric of a query, and where it comes from: `pair` is both before verification, with the trace.

    The ids of a criterion's leaves are those of `tree`. The rubrics of `variants` are for the same query. `title` is that of the
    document of the seed topic, `seed` its address.
    """

    title: str
    seed: str
    rubric: EvidenceRubric
    pair: QueryWithRubric
    audit: TreeAudit
    variants: tuple[EvidenceRubric, ...]
    tree: EvidenceTree

    def list_documents(self) -> tuple[str, ...]:
        """Return the addresses of the seed's document and of those behind the selected leaves.

        Documents of other nodes are left out: the query and its rubric say nothing of them.
        """
        leaves = [leaf for leaf in self.tree.leaves if leaf.id in self.pair.selected_ids]
        return tuple(dict.fromkeys((self.seed, *(passage.address for leaf in leaves for passage in leaf.passages))))


def count_tree(tree: EvidenceTree) -> dict[str, float]:
    """Return the numbers of a tree."""
    leaves = tree.leaves
    return {
        "depth": max(node.depth for node in tree.nodes),
        "nodes": len(tree.nodes),
        "leaves": len(leaves),
        "leaves_at_depth_3": sum(leaf.depth == DEEPEST for leaf in leaves),
        "leaf_passages": sum(len(leaf.passages) for leaf in leaves),
        "fallen": len(tree.fallen),
        "lost_statements": tree.lost_statements,
    }


def count_row(row: TreeRow) -> dict[str, float]:
    """Return the numbers of a row and of its tree."""
    selected = [leaf for leaf in row.tree.leaves if leaf.id in row.pair.selected_ids]
    factual = sum(criterion.type is CriterionType.FACTUAL for criterion in row.rubric.criteria)
    return count_tree(row.tree) | {
        "selected": len(selected),
        "selected_passages": sum(len(leaf.passages) for leaf in selected),
        "merges": len(row.pair.merges),
        "criteria": len(row.rubric.criteria),
        "factual": factual,
        "logical": len(row.rubric.criteria) - factual,
    }
