"""DeepRubric's form of a rubric (section 3.2, Eq. 2): factual criteria rest on evidence, logical ones do not."""

from enum import StrEnum
from typing import Literal

from pydantic import Field, field_validator, model_validator

from app.domain.options import to_one_line
from app.domain.value import Value

FEWEST, MOST = 5, 40


class CriterionType(StrEnum):
    """The kind of a criterion: a fact that the report must state, or a piece of reasoning that it must do."""

    FACTUAL = "factual"
    LOGICAL = "logical"


class Variant(StrEnum):
    """The source of the criteria (sections 3.2 and 4.4).

    `tree`: an evidence tree, verified. `unrevised`: the same before verification, which removes negative weights.
    `search`: passages retrieved for the question. `closed_book`: the question alone, so that no criterion has evidence.
    """

    TREE = "tree"
    UNREVISED = "unrevised"
    SEARCH = "search"
    CLOSED_BOOK = "closed_book"


class EvidenceCriterion(Value):
    """One criterion. `source_leaf_ids` name the leaves (or passages) it comes from; `evidence` has their statements.

    Raises:
        ValueError: a weight outside [-1, 1], or evidence on a logical criterion (P_r is empty for those).
    """

    id: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,31}$")
    type: CriterionType
    description: str = Field(min_length=1, max_length=1_000)
    weight: float = Field(ge=-1, le=1, allow_inf_nan=False)
    source_leaf_ids: tuple[str, ...] = Field(default=(), max_length=100)
    evidence: tuple[str, ...] = Field(default=(), max_length=100)

    @field_validator("description")
    @classmethod
    def _clean_description(cls, text: str) -> str:
        line = to_one_line(text)
        if not any(c.isalnum() for c in line):
            raise ValueError("a description needs words")
        return line

    @model_validator(mode="after")
    def _check_evidence(self) -> "EvidenceCriterion":
        if self.type is CriterionType.LOGICAL and self.evidence:
            raise ValueError(f"criterion {self.id} is logical: it asks for reasoning and has no evidence")
        return self

    @property
    def grounded(self) -> bool:
        """True when it says which statement of which leaf it rests on."""
        return bool(self.source_leaf_ids) and any(statement.strip() for statement in self.evidence)

    @property
    def shown(self) -> str:
        """The criterion as its judge sees it: id, type, description, and the evidence of a factual one (appendix A.1)."""
        evidence = "".join(f"\n- {statement}" for statement in self.evidence)
        return f"{self.id} ({self.type}): {self.description}{evidence}"


class EvidenceRubric(Value):
    """The criteria of one question.

    Raises:
        ValueError: fewer than 5 criteria, two with one id or one wording, a factual one without evidence (a closed-book rubric
            has none), a negative weight after verification, or no positive weight.
    """

    form: Literal["deeprubric"] = "deeprubric"
    variant: Variant = Variant.TREE
    criteria: tuple[EvidenceCriterion, ...] = Field(min_length=FEWEST, max_length=MOST)
    model: str = Field(default="", max_length=200)

    @model_validator(mode="after")
    def _check_whole(self) -> "EvidenceRubric":
        for said in ([c.id for c in self.criteria], [c.description.casefold() for c in self.criteria]):
            if len(set(said)) != len(said):
                raise ValueError("two criteria have the same id or the same wording")
        for criterion in self.criteria:
            self._check(criterion)
        if not any(criterion.weight > 0 for criterion in self.criteria):
            raise ValueError("no criterion has a positive weight: the rubric asks for nothing")
        return self

    def _check(self, criterion: EvidenceCriterion) -> None:
        if criterion.weight < 0 and self.variant is not Variant.UNREVISED:
            raise ValueError(f"criterion {criterion.id} has a negative weight, which verification takes out")
        if self.variant is Variant.CLOSED_BOOK:
            if criterion.source_leaf_ids or criterion.evidence:
                raise ValueError(f"criterion {criterion.id} names evidence, of which a closed-book rubric has none")
        elif criterion.type is CriterionType.FACTUAL and not criterion.grounded:
            raise ValueError(f"criterion {criterion.id} is factual: it needs the ids of its leaves and their statements")

    def as_verified(self) -> "EvidenceRubric":
        """Return an unrevised rubric without its negative criteria, as verification does (appendix C.4: 8% of all revisions).

        Raises:
            ValueError: too few criteria are left.
        """
        kept = tuple(criterion for criterion in self.criteria if criterion.weight >= 0)
        return EvidenceRubric(variant=Variant.TREE, criteria=kept, model=self.model)
