"""Request and response bodies of systems side by side."""

from collections.abc import Container
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from app.accounts.nouns.access import AccessScope
from app.asking.schemas import GivenRubric
from app.domain.interactions import Interactions
from app.domain.query import SystemName
from app.domain.rubric import Rubric
from app.domain.run import Run
from app.domain.scorecard import Scorecard
from app.side_by_side.service.side_by_side import SideBySide


class FurtherSystems(BaseModel):
    """Systems that work a run's question too."""

    model_config = ConfigDict(extra="forbid")

    systems: list[SystemName] = Field(min_length=1, max_length=len(SystemName), json_schema_extra={"uniqueItems": True})


class JudgingRequest(BaseModel):
    """The rubric by which finished reports are judged."""

    model_config = ConfigDict(extra="forbid")

    rubric: Literal["auto"] | GivenRubric = Field(
        default="auto", description="`auto`: by the rubric that the runs have, or else by one drafted once for all of them."
    )


class ColumnView(BaseModel):
    """One system's run; its report is at `/v1/runs/{id}/report`."""

    run: Run
    interactions: Interactions | None = Field(description="Turns and tool calls; null until a search of the run has ended.")
    scorecard: Scorecard | None = Field(description="By the rubric that all are held to; null until the report is judged.")
    judging: bool = Field(default=False, description="The report is being judged by a rubric that it was not asked with.")
    unjudged: str = Field(default="", description="Why the last judging failed.")


class SideBySideView(BaseModel):
    """The runs of one question on the same evidence. `first` is the run whose tool results all share."""

    first: UUID
    question: str
    rubric: Rubric | None = Field(description="The rubric of all reports; null as long as there is none.")
    columns: list[ColumnView]

    @classmethod
    def of(cls, found: SideBySide, scopes: Container[AccessScope]) -> "SideBySideView":
        """Return the runs as the API shows them; who may not read reports gets scores without the words of any."""
        columns = [ColumnView.model_validate(column, from_attributes=True) for column in found.columns]
        for column in columns:
            if column.scorecard is not None and AccessScope.REPORTS_READ not in scopes:
                column.scorecard = column.scorecard.without_words()
        return cls(first=found.first.id, question=found.first.query.question, rubric=found.rubric, columns=columns)
