"""An evidence tree: sub-questions, each grounded in passages of a corpus (DeepRubric section 3.1)."""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from app.domain.value import Value
from workflows.judging.rubric_verification import EvidenceLeaf

ROOT = "0"
MOST_CHILDREN = (6, 4, 3)
"""The most children of a node at depth 0, 1, 2. A node at depth 3 has none."""
DEEPEST = len(MOST_CHILDREN)
FEWEST_CHILDREN = 2
MOST_STATEMENTS = 3


class Facet(StrEnum):
    """The side of its parent's question that a child looks at (appendix C.2, prompt of Fig. 9)."""

    COMPARISON = "comparison"
    RISKS = "risks"
    QUANTITIES = "quantities"
    MECHANISMS = "mechanisms"
    ACTORS = "actors"
    HISTORY = "history"
    OUTCOMES = "outcomes"
    PLACES = "places"
    RULES = "rules"
    DISPUTES = "disputes"
    OTHER = "other"


MANDATORY = (Facet.COMPARISON, Facet.RISKS, Facet.QUANTITIES)


class LeafReason(StrEnum):
    """The reason why a node has no children.

    `depth`: it is at the greatest depth. `atomic`: fewer than two different children were proposed. `gated`: the gate let fewer
    than two pass. `unsupported`: fewer than two children stood. `failed`: a call gave no usable answer.
    """

    DEPTH = "depth"
    ATOMIC = "atomic"
    GATED = "gated"
    UNSUPPORTED = "unsupported"
    FAILED = "failed"


class Statement(Value):
    """Words of a source: `snapshot_text[start:end] == text`."""

    text: str = Field(min_length=1)
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class GroundingPassage(Value):
    """A passage `[start, end)` of a snapshot that supports a node, with the statements taken from it."""

    address: str
    title: str
    snapshot: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    statements: tuple[Statement, ...] = Field(min_length=1, max_length=MOST_STATEMENTS)


class TreeNode(Value):
    """A sub-question with its evidence. The root is `0`; `2.1` is the first child of `2`, which is the root's second child."""

    id: str
    parent: str = ""
    depth: int = Field(ge=0, le=DEEPEST)
    facet: Facet | None = None
    question: str
    passages: tuple[GroundingPassage, ...] = Field(min_length=1)
    leaf: LeafReason | None = None

    @property
    def statements(self) -> tuple[str, ...]:
        """All its statements, each once."""
        return tuple(dict.fromkeys(statement.text for passage in self.passages for statement in passage.statements))


class FallReason(StrEnum):
    """The reason why a proposed child does not stand.

    `over_limit`: there are enough proposals without it. `repeats`: it repeats an ancestor or a sibling. `gated`: it opens nothing
    new. `ungrounded`: no passage supports it. `alone`: it stands, but none of its siblings does.
    """

    OVER_LIMIT = "over_limit"
    REPEATS = "repeats"
    GATED = "gated"
    UNGROUNDED = "ungrounded"
    ALONE = "alone"


class FallenChild(Value):
    """A proposed child that does not stand."""

    parent: str
    question: str
    facet: Facet
    reason: FallReason
    detail: str = ""


class EvidenceTree(Value):
    """The nodes level by level, the root first, and what fell on the way. `failures` says which nodes got no usable answer."""

    nodes: tuple[TreeNode, ...] = Field(min_length=1)
    fallen: tuple[FallenChild, ...] = ()
    failures: str = ""
    lost_statements: int = Field(default=0, ge=0, description="statements that no passage has")

    @property
    def root(self) -> TreeNode:
        """The root."""
        return self.nodes[0]

    @property
    def leaves(self) -> tuple[TreeNode, ...]:
        """The nodes without children."""
        return tuple(node for node in self.nodes if node.leaf is not None)


def trace_path(nodes: Sequence[TreeNode], node: TreeNode) -> tuple[TreeNode, ...]:
    """Return the ancestors of a node, the root first."""
    known = {one.id: one for one in nodes}
    path: list[TreeNode] = []
    while node.parent:
        node = known[node.parent]
        path.insert(0, node)
    return tuple(path)


def name_child(parent: TreeNode, place: int) -> str:
    """Return the id of a node's child; places count from 1."""
    return str(place) if parent.id == ROOT else f"{parent.id}.{place}"


def as_evidence_leaf(node: TreeNode) -> EvidenceLeaf:
    """Return a leaf as verification reads it."""
    return EvidenceLeaf(node.id, node.question, node.statements)
