"""Request and response bodies of rating, flagging and consent."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from app.comparisons.schemas import CommentText, input_config_of
from app.http.plain_text import PLAIN
from app.preferences.nouns.feedback import MAX_WORDS
from app.reports.schemas import MOST_VERSIONS

FlagReason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_WORDS), PLAIN]

VersionRead = Annotated[
    int | None, Field(ge=1, le=MOST_VERSIONS, description="Which version of the report was read; by default the newest.")
]


class NewRating(BaseModel):
    """Stars for a report, one to five."""

    model_config = input_config_of({"stars": 4})

    stars: int = Field(ge=1, le=5)
    comment: CommentText = ""
    version: VersionRead = None


class RatingView(BaseModel):
    """Stored stars."""

    stars: int
    comment: str
    made_at: datetime


class NewFlag(BaseModel):
    """The reason why a claim is wrong."""

    model_config = input_config_of({"reason": "The source speaks of exports, not of duties."})

    reason: FlagReason
    version: VersionRead = None


class FlagView(BaseModel):
    """A claim that the reader calls wrong."""

    claim: int
    text: str
    reason: str
    made_at: datetime


class FlagList(BaseModel):
    """The reader's flags in one report, in the order of its claims."""

    items: list[FlagView]


class ConsentChange(BaseModel):
    """A change of consent; null leaves it as it is. Only owners speak for the organisation."""

    model_config = input_config_of({"person": True})

    person: bool | None = None
    organisation: bool | None = None


class ConsentView(BaseModel):
    """The consent to use what this person asks and says here for training: it takes both, and covers what comes after both."""

    given: bool
    person_since: datetime | None
    organisation_since: datetime | None
