"""Request and response bodies of comparing."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.comparisons.service.comparisons import CHANGEABLE_FOR, ShownComparison, status_of
from app.comparisons.storage.comparisons import Candidate, Comparison
from app.domain.writer import ReportLineage, WriterSettings
from app.http.openapi.examples import RUN_ID
from app.http.plain_text import PLAIN
from app.preferences.nouns.feedback import (
    MAX_WORDS,
    Choice,
    ChoiceReason,
    ChoiceVerdict,
    ComparisonStatus,
    ShownSide,
    StoredChoice,
)
from app.reports.cited_schemas import Citations, Claims

CommentText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_WORDS), PLAIN]


def input_config_of(example: dict[str, Any]) -> ConfigDict:
    """Return the configuration of a request's body: unknown fields are refused, and the document shows the example."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})


class NewComparison(BaseModel):
    """The run whose report is compared, and how the second report is written over the same evidence."""

    model_config = input_config_of({"run_id": RUN_ID, "writer": {"temperature": 0.8}})

    run_id: UUID
    writer: WriterSettings


class NewChoice(BaseModel):
    """The better report. A preference has a strength from 1 (slightly) to 3 (far better)."""

    model_config = input_config_of(
        {
            "verdict": "left",
            "strength": 2,
            "reasons": [{"dimension": "completeness", "side": "left"}],
            "hidden_seconds": 12.5,
        }
    )

    verdict: ChoiceVerdict
    strength: int | None = Field(default=None, ge=1, le=3)
    reasons: list[ChoiceReason] = Field(
        default=[], max_length=4, description="At most one a dimension; side null: neither is better."
    )
    comment: CommentText = ""
    hidden_seconds: float | None = Field(
        default=None, ge=0, le=10**8, description="How long the page was not in view since the first look; null: not known."
    )

    def to_choice(self) -> Choice:
        """Return the choice as the domain's noun.

        Raises:
            ValueError: the parts contradict each other.
        """
        return Choice(**self.model_dump())


class CandidateView(BaseModel):
    """A report as it is compared: Markdown with numbers, their citations, and its claims with their support."""

    title: str
    markdown: str
    citations: Citations
    claims: Claims


class ChoiceView(BaseModel):
    """A stored choice. It may be changed until `changeable_until`, or until it is revealed which report was which."""

    verdict: ChoiceVerdict
    strength: int | None
    reasons: list[ChoiceReason]
    comment: str
    seconds: float = Field(description="From the first look to the first choice, less the time the page says it was hidden.")
    made_at: datetime
    changes: int
    changeable_until: datetime | None


class ComparisonView(BaseModel):
    """A comparison as its reader sees it: nothing here tells which report is which."""

    id: UUID
    run_id: UUID
    question: str
    status: ComparisonStatus
    detail: str = ""
    created_at: datetime
    left: CandidateView | None = None
    right: CandidateView | None = None
    choice: ChoiceView | None = None
    revealed: bool = False


class ComparisonItem(BaseModel):
    """A comparison in a list."""

    id: UUID
    run_id: UUID
    question: str
    status: ComparisonStatus
    created_at: datetime
    chosen: bool


class ComparisonPage(BaseModel):
    """One page of comparisons, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[ComparisonItem]
    next: UUID | None = None


class RevealedReport(BaseModel):
    """One of the two reports, revealed: whether the run delivered it, and what it was written with."""

    delivered: bool
    way: str
    lineage: ReportLineage
    tokens: int = Field(description="What its run spent: the delivered one's with research, the other's for writing alone.")
    cost_microusd: int


class Reveal(BaseModel):
    """The revealed reports: which one was which."""

    left: RevealedReport
    right: RevealedReport
    choice: ChoiceView
    version: int | None = Field(
        description="The run's new current version, where you had its report compared and prefer the other; else null."
    )


def item_of(comparison: Comparison) -> ComparisonItem:
    """Return a line of a list. A finished comparison that nobody has looked at yet still reads as being prepared."""
    return ComparisonItem(
        id=comparison.id,
        run_id=comparison.run_id,
        question=comparison.query.question,
        status=status_of(comparison),
        created_at=comparison.created_at,
        chosen=comparison.chosen,
    )


def view_of(shown: ShownComparison) -> ComparisonView:
    """Return what a reader may know before the choice is final."""
    comparison, viewing = shown.comparison, shown.viewing
    sides = {side: shown.candidates[viewing.place_of(side)] for side in ShownSide} if viewing else {}
    return ComparisonView(
        id=comparison.id,
        run_id=comparison.run_id,
        question=comparison.query.question,
        status=shown.status,
        detail=comparison.failure,
        created_at=comparison.created_at,
        left=_candidate_view_of(sides.get(ShownSide.LEFT)),
        right=_candidate_view_of(sides.get(ShownSide.RIGHT)),
        choice=_own_choice_of(shown),
        revealed=viewing is not None and viewing.revealed_at is not None,
    )


def choice_view_of(stored: StoredChoice, final: bool = False) -> ChoiceView:
    """Return the reader's own choice; a `final` one can no longer be changed."""
    return ChoiceView(
        **stored.choice.model_dump(exclude={"hidden_seconds"}),
        seconds=round(stored.seconds, 3),
        made_at=stored.made_at,
        changes=stored.changes,
        changeable_until=None if final else stored.made_at + CHANGEABLE_FOR,
    )


def _own_choice_of(shown: ShownComparison) -> ChoiceView | None:
    revealed = shown.viewing is None or shown.viewing.revealed_at is not None
    return choice_view_of(shown.choice, final=revealed) if shown.choice else None


def reveal_of(shown: ShownComparison, version: int | None) -> Reveal:
    """Return which report was which, once that may be told."""
    viewing, choice = shown.viewing, _own_choice_of(shown)
    assert viewing is not None
    assert choice is not None
    left, right = (_revealed_report_of(shown.candidates[viewing.place_of(side)]) for side in ShownSide)
    return Reveal(left=left, right=right, choice=choice, version=version)


def _candidate_view_of(candidate: Candidate | None) -> CandidateView | None:
    if candidate is None:
        return None
    return CandidateView(title=candidate.title, markdown=candidate.markdown, **orjson.loads(candidate.shown))


def _revealed_report_of(candidate: Candidate) -> RevealedReport:
    return RevealedReport(
        delivered=candidate.place.value == "delivered",
        way=candidate.lineage.way,
        lineage=candidate.lineage,
        tokens=candidate.tokens,
        cost_microusd=candidate.cost_microusd,
    )
