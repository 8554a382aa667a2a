"""What a tree is merged into: a query and its criteria, with the trace of how they came about (DeepRubric section 3.2)."""

from pydantic import Field

from app.domain.evidence_rubric import EvidenceRubric
from app.domain.value import Value


class SelectedLeaf(Value):
    """A leaf that the query rests on, and why it was selected."""

    leaf: str
    reason: str


class Merge(Value):
    """A step of the merge: leaves or outputs of earlier merges become one question. `output` is its id, such as `m2`."""

    inputs: tuple[str, ...] = Field(min_length=1)
    output: str = Field(min_length=1)
    question: str = Field(min_length=1)
    reason: str


class QueryWithRubric(Value):
    """A query, its criteria, and the trace: the selected leaves and all merges in their order."""

    query: str = Field(min_length=1)
    rubric: EvidenceRubric
    selected: tuple[SelectedLeaf, ...]
    merges: tuple[Merge, ...]

    @property
    def selected_ids(self) -> tuple[str, ...]:
        """The ids of the selected leaves."""
        return tuple(one.leaf for one in self.selected)

    def describe_merges(self) -> str:
        """Return the merges as lines of text."""
        return "\n".join(f"{', '.join(one.inputs)} -> {one.output}: {one.question} ({one.reason})" for one in self.merges)
