"""Request and response bodies of the routes of runs, where they are not nouns of the domain."""

from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from app.asking.schemas import GivenRubric
from app.collections.nouns import MAX_NAME_CHARS
from app.domain.budget import Budget
from app.domain.errors import InvalidInput
from app.domain.options import (
    MAX_DOMAINS,
    MAX_WRITING_TOOLS,
    Audience,
    Domain,
    Length,
    ReportFormat,
    ReportStyle,
    SearchScope,
    SourceKind,
    Tone,
    WritingTool,
)
from app.domain.query import Clarification, Effort, Language, ResearchQuery, SystemName, detect_language
from app.domain.run import Run
from app.domain.writer import Composition, WriterSettings
from app.http.plain_text import PLAIN
from app.runs.nouns import PurposeUsage

CollectionName = Annotated[str, StringConstraints(min_length=1, max_length=MAX_NAME_CHARS), PLAIN]
NoteText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000), PLAIN]


class NewRun(BaseModel):
    """A question to research. Only `question` is required; without `language` answers are in its language."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[str, PLAIN]
    effort: Effort = Effort.STANDARD
    language: Language | None = None
    system: SystemName = SystemName.MINDDR
    beside: list[SystemName] = Field(
        default=[], max_length=len(SystemName), description="Further systems to work the question on the same evidence."
    )
    collections: tuple[CollectionName, ...] | None = Field(
        default=None,
        max_length=20,
        description="Collections to search. Empty: the default one. Null: the default one, and those of your organisation "
        "that fit the question, unless `sources` leaves `collections` out.",
    )
    budget: Budget = Budget()
    length: Length | None = Field(default=None, description="The report's length, relative to its effort's usual one.")
    tone: Tone | None = None
    audience: Audience = Field(default="", description="Who will read it, in a few words.")
    format: ReportFormat | None = None
    composition: Composition | None = Field(
        default=None,
        description="How a model writes the report of the system minddr: `sections` by writers side by side, `single_pass` by "
        "one call. Null: your organisation's default, else by the room of the model's context.",
    )
    one_conversation: bool = Field(
        default=False,
        description="The system deeprubric alone: the answer that ends its search is the report. For models that are trained so.",
    )
    published_from: date | None = Field(default=None, description="Only sources of this day or later; undated ones are left out.")
    published_to: date | None = Field(default=None, description="Only sources of this day or earlier.")
    sources: tuple[SourceKind, ...] = Field(default=(), max_length=4, description="Where to search; empty: all there is.")
    domains_allowed: tuple[Domain, ...] = Field(default=(), max_length=MAX_DOMAINS, description="Only these domains of the web.")
    domains_refused: tuple[Domain, ...] = Field(default=(), max_length=MAX_DOMAINS, description="None of these domains.")
    tools_that_write: tuple[WritingTool, ...] = Field(
        default=(),
        max_length=MAX_WRITING_TOOLS,
        description="Tools of MCP servers that may change something, as `server.tool`: agents may use those named here, and no "
        "others of this kind.",
    )
    clarified: tuple[Clarification, ...] = Field(default=(), max_length=3, description="Questions asked back, with your answers.")
    approve_plan: bool = Field(default=False, description="Wait for a person to approve the plan.")
    rubric: Literal["auto"] | GivenRubric | None = Field(
        default=None, description="Hold the report to a rubric: `auto` drafts one with the plan, or give the criteria."
    )

    @property
    def takes_suggestions(self) -> bool:
        """True when collections that fit the question are searched."""
        return self.collections is None and (not self.sources or SourceKind.COLLECTIONS in self.sources)

    def to_query(self) -> ResearchQuery:
        """Return the question as a research query.

        Raises:
            InvalidInput: the question is not acceptable; the message gives the reason.
        """
        if self.composition and SystemName.MINDDR not in (self.system, *self.beside):
            raise InvalidInput("`composition` holds for the system minddr; the others write while they search")
        if self.one_conversation and SystemName.DEEPRUBRIC not in (self.system, *self.beside):
            raise InvalidInput("`one_conversation` is a way of the system deeprubric; name that system or leave it out")
        style = {name: getattr(self, name) for name in ReportStyle.model_fields if getattr(self, name)}
        scope = {name: getattr(self, name) for name in SearchScope.model_fields if getattr(self, name)}
        given = {
            name: getattr(self, name)
            for name in ("question", "effort", "system", "budget", "clarified", "approve_plan", "one_conversation")
        }
        try:
            return ResearchQuery(
                **given,
                collections=self.collections or (),
                language=self.language or detect_language(self.question),
                language_chosen=self.language is not None,
                style=ReportStyle(**style) if style else None,
                scope=SearchScope(**scope) if scope else None,
                rubric=self.rubric is not None,
                writer=WriterSettings(composition=self.composition),
            )
        except ValidationError as error:
            raise InvalidInput("; ".join(detail["msg"].removeprefix("Value error, ") for detail in error.errors())) from error


class RunPage(BaseModel):
    """One page of runs, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[Run]
    next: UUID | None = None


class PurposePage(BaseModel):
    """What a run's model calls used, by what they were for, in the order of the work.

    They add up to less than the run's `usage` where a replaced attempt had paid for calls, or where the log is no longer kept.
    """

    items: list[PurposeUsage]


class Resumption(BaseModel):
    """The way to continue: with `finish`, the report is written from the evidence so far and nothing more is spent."""

    model_config = ConfigDict(extra="forbid")

    finish: bool = False
    present_models: bool = Field(
        default=False, description="Roles of this run whose model is gone get the model that has the role now."
    )


class NewNote(BaseModel):
    """A note for the agents."""

    model_config = ConfigDict(extra="forbid")

    text: NoteText


class AddedNote(BaseModel):
    """A stored note, with the number of its event."""

    seq: int
    text: str
