"""Request and response bodies of asking."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.asking.storage.rubrics import StoredRubric
from app.domain.budget import Usage
from app.domain.contract import ClarifyingQuestion
from app.domain.rubric import MOST, Criterion, Rubric

Criteria = Annotated[tuple[Criterion, ...], Field(max_length=MOST, description="7 to 20 criteria.")]


class EditedRubric(BaseModel):
    """The criteria that a report is held to."""

    model_config = ConfigDict(extra="forbid")

    criteria: Criteria


class GivenRubric(EditedRubric):
    """The criteria that a run is asked with, and the draft they come from."""

    draft: UUID | None = Field(default=None, description="The id of the drafted rubric.")


class DraftedRubric(BaseModel):
    """A rubric for a question, to show and edit before the run."""

    id: UUID
    rubric: Rubric
    usage: Usage


class RubricView(BaseModel):
    """A run's rubric. `drafted` is the rubric before a person changed it; null where a person wrote it."""

    rubric: Rubric
    drafted: Rubric | None
    edited_at: datetime | None

    @classmethod
    def of(cls, stored: StoredRubric) -> "RubricView":
        """Return the stored rubric as the API shows it."""
        return cls(rubric=stored.rubric, drafted=stored.drafted, edited_at=stored.edited_at)


class Clarifications(BaseModel):
    """Questions to the reader; empty when the question can be researched as it is."""

    questions: tuple[ClarifyingQuestion, ...]
    model: str
    usage: Usage


class SuggestedCollections(BaseModel):
    """The collections that fit a question, the best first. The whole organisation may use them."""

    collections: tuple[str, ...]
