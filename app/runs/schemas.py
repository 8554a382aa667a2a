"""What goes in and out over HTTP, where it is not one of the domain's nouns."""

import unicodedata
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, StringConstraints, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from app.asking.schemas import GivenRubric
from app.domain.budget import Budget, Usage
from app.domain.errors import InvalidInput
from app.domain.options import MAX_DOMAINS, Audience, Domain, Length, ReportFormat, ReportStyle, SearchScope, SourceKind, Tone
from app.domain.query import Clarified, Effort, Language, ResearchQuery, SystemName, detect_language
from app.domain.run import Run, RunStatus
from app.outside.nouns import ToolUse


def _without_controls(text: str) -> str:
    """Text a person may have typed. Control characters come from binary data, and no later step could say so as clearly."""
    for position, character in enumerate(text):
        if unicodedata.category(character) == "Cc" and character not in "\n\r\t":
            raise ValueError(f"the text has a control character, U+{ord(character):04X}, at position {position}; send plain text")
    return text


class _Plain:
    """Refuses control characters, and says so in the schema."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(_without_controls, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "pattern": NO_CONTROLS}


# As JSON schemas are read everywhere (ECMA-262). What must stand besides is told by the description.
NO_CONTROLS = r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$"
PLAIN = _Plain()
CollectionName = Annotated[str, StringConstraints(min_length=1, max_length=100), PLAIN]
NoteText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000), PLAIN]


class NewRun(BaseModel):
    """A question to research. Only `question` is needed; without `language` it is detected."""

    model_config = ConfigDict(extra="forbid")

    question: Annotated[str, PLAIN]
    effort: Effort = Effort.STANDARD
    language: Language | None = None
    system: SystemName = SystemName.MINDDR
    beside: list[SystemName] = Field(
        default=[], max_length=len(SystemName), description="Further systems to work the question on the same evidence."
    )
    collections: tuple[CollectionName, ...] = Field(default=(), max_length=20, description="Empty: the default collection.")
    budget: Budget = Budget()
    length: Length | None = Field(default=None, description="How long the report is, beside what its effort gives.")
    tone: Tone | None = None
    audience: Audience = Field(default="", description="Who will read it, in a few words.")
    format: ReportFormat | None = None
    published_from: date | None = Field(default=None, description="Only sources of this day or later; undated ones are left out.")
    published_to: date | None = Field(default=None, description="Only sources of this day or earlier.")
    sources: tuple[SourceKind, ...] = Field(default=(), max_length=4, description="Where to search; empty: all there is.")
    domains_allowed: tuple[Domain, ...] = Field(default=(), max_length=MAX_DOMAINS, description="Only these domains of the web.")
    domains_refused: tuple[Domain, ...] = Field(default=(), max_length=MAX_DOMAINS, description="None of these domains.")
    clarified: tuple[Clarified, ...] = Field(default=(), max_length=3, description="Questions asked back, with your answers.")
    approve_plan: bool = Field(default=False, description="Wait with the plan until it is approved.")
    rubric: Literal["auto"] | GivenRubric | None = Field(
        default=None, description="Hold the report to a rubric: `auto` drafts one with the plan, or give the criteria."
    )

    def query(self) -> ResearchQuery:
        """The question as accepted.

        Raises:
            InvalidInput: with the reason, for whoever typed the question.
        """
        style = {name: getattr(self, name) for name in ReportStyle.model_fields if getattr(self, name)}
        scope = {name: getattr(self, name) for name in SearchScope.model_fields if getattr(self, name)}
        given = {
            name: getattr(self, name)
            for name in ("question", "effort", "system", "collections", "budget", "clarified", "approve_plan")
        }
        try:
            return ResearchQuery(
                **given,
                language=self.language or detect_language(self.question),
                style=ReportStyle(**style) if style else None,
                scope=SearchScope(**scope) if scope else None,
                rubric=self.rubric is not None,
            )
        except ValidationError as error:
            raise InvalidInput("; ".join(detail["msg"].removeprefix("Value error, ") for detail in error.errors())) from error


class RunPage(BaseModel):
    """Runs, newest first. `next` is the value of `before` that brings the following page; null on the last."""

    items: list[Run]
    next: UUID | None = None


class ReportView(BaseModel):
    """A finished report. The numbers in `markdown` and `html` are those of `citations`."""

    run_id: UUID
    question: str
    status: RunStatus
    title: str
    markdown: str
    html: str
    citations: list[dict[str, Any]] = Field(description="n, quote, start, end, source {title, url, snapshot}; see evidence.")
    claims: list[dict[str, Any]] = Field(
        description="text, section, citations, support, reason, judge, weak; see docs/citations.md."
    )
    notices: list[str] = Field(description="What a reader must know about the making of this report.")
    version: int = Field(default=1, description="1 is what the run delivered; later ones are changes by readers.")
    usage: Usage
    created_at: datetime


class EvidenceView(BaseModel):
    """What a report rests on. Offsets count characters of the stored copy that `snapshot` names."""

    run_id: UUID
    question: str
    status: RunStatus
    usage: Usage
    citations: list[dict[str, Any]] = Field(description="n, quote, start, end, source {title, url, snapshot, ...}.")
    claims: list[dict[str, Any]] = Field(
        default=[], description="text, section, citations, support, reason, judge, weak; see docs/citations.md."
    )


class Resumption(BaseModel):
    """How to go on: with `finish`, the report is written from what there is and nothing more is spent."""

    model_config = ConfigDict(extra="forbid")

    finish: bool = False


class NewNote(BaseModel):
    """A note for the agents."""

    model_config = ConfigDict(extra="forbid")

    text: NoteText


class AddedNote(BaseModel):
    """A stored note, with the number of its event."""

    seq: int
    text: str


class PartHealth(BaseModel):
    """One part of the product."""

    ok: bool
    detail: str = ""


class Health(BaseModel):
    """`ok` is true when every part is."""

    ok: bool
    version: str
    parts: dict[str, PartHealth]


class ToolList(BaseModel):
    """The services outside, with how their calls went."""

    items: list[ToolUse]
