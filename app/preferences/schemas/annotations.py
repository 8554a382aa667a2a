"""Request and response bodies of annotation."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, Field, StringConstraints

from app.comparisons.schemas import CandidateView, input_config_of
from app.http.openapi.examples import RUN_ID
from app.http.plain_text import PLAIN
from app.preferences.nouns.feedback import MAX_WORDS, Dimension, PairOutcome

MOST_ANNOTATORS = 100
SkipReason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_WORDS), PLAIN]


class NewTasks(BaseModel):
    """Pairs to judge. With `gold` the right answer is known: every annotator gets the pair, as a test of attention."""

    model_config = input_config_of({"comparison_ids": [RUN_ID], "overlap": 3})

    comparison_ids: list[UUID] = Field(min_length=1, max_length=100)
    overlap: int = Field(default=2, ge=1, le=MOST_ANNOTATORS, description="How many annotators judge each pair.")
    gold: PairOutcome | None = None


class TaskView(BaseModel):
    """A pair to judge, and its progress."""

    comparison_id: UUID
    overlap: int
    gold: bool
    answered: int
    being_judged: int
    skipped: int
    created_at: datetime


class TaskPage(BaseModel):
    """One page of pairs to judge, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[TaskView]
    next: UUID | None = None


class AssignmentView(BaseModel):
    """A pair for this annotator, who does not know its origins. It goes to another annotator if it is not answered in time."""

    id: UUID
    question: str
    left: CandidateView
    right: CandidateView
    expires_at: datetime


class NextAssignment(BaseModel):
    """The pair to judge now; null: there is nothing for you."""

    assignment: AssignmentView | None


class SkipRequest(BaseModel):
    """The reason for skipping a pair."""

    model_config = input_config_of({"reason": "Not my field."})

    reason: SkipReason


class AnswerReceipt(BaseModel):
    """A stored answer. It does not tell which report was which: further pairs may be of the same kinds."""

    id: UUID
    seconds: float


class AgreementView(BaseModel):
    """Agreement over pairs that several people judged. `kappa` is null where undefined: too few pairs, or all answers alike."""

    pairs: int
    observed: float | None
    kappa: float | None


class PairAgreement(AgreementView):
    """The agreement of two annotators."""

    annotators: tuple[UUID, UUID]


class Attention(BaseModel):
    """An annotator's result on pairs whose answer is known."""

    annotator: UUID
    right: int
    given: int


class AgreementReport(BaseModel):
    """Fleiss' kappa over all annotators, overall and by dimension; Cohen's kappa of every two; attention."""

    overall: AgreementView
    dimensions: dict[Dimension, AgreementView]
    annotators: list[PairAgreement]
    gold: list[Attention]
