"""Request and response bodies around finished reports: versions, changes, follow-up questions."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.domain.budget import Usage
from app.domain.claims import Support
from app.domain.report import Report, Section
from app.domain.revision import LONGEST_QUESTION, FollowUp, ReportTask, TaskKind, TaskStatus, VersionInfo
from app.domain.run import RunStatus
from app.http.plain_text import PLAIN
from app.reports.cited_schemas import Citations, Claims
from app.reports.nouns import Chart, Disagreement, Figure
from app.reports.rendering import describe_citation, describe_claims
from app.reports.rendering.marks import remove_places
from app.reports.rendering.numbering import number_citations
from app.sharing.nouns import Share

MOST_VERSIONS = 1_000_000
WishText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000), PLAIN]
QuestionText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_QUESTION), PLAIN]
HeadingText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=300), PLAIN]
BodyText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=60_000), PLAIN]


class RewritingKind(StrEnum):
    """The kind of a rewriting."""

    REWRITE = "rewrite"
    DEEPEN = "deepen"


class Rewriting(BaseModel):
    """The way to write a section again, from the same evidence."""

    model_config = ConfigDict(extra="forbid")

    how: RewritingKind = RewritingKind.REWRITE
    wish: WishText = Field(default="", description="What it should do better: emphasis, order, tone, length.")


class Edit(BaseModel):
    """A reader's own text of a section. `[n]` cites the source that the edited version has under n."""

    model_config = ConfigDict(extra="forbid")

    heading: HeadingText = Field(default="", description="Empty: unchanged.")
    markdown: BodyText


class NewQuestion(BaseModel):
    """A further question, to be answered from the run's evidence alone."""

    model_config = ConfigDict(extra="forbid")

    question: QuestionText


class VersionPage(BaseModel):
    """One page of versions, newest first. `next` is the value of `before` for the following page; null on the last."""

    items: list[VersionInfo]
    next: int | None = None


class SectionView(BaseModel):
    """A section as a reader edits it, with the numbers of this version."""

    heading: str
    level: int
    markdown: str


class ReportView(BaseModel):
    """A finished report. The numbers in `markdown` and `html` are those of `citations`."""

    run_id: UUID
    question: str
    status: RunStatus
    title: str
    markdown: str
    html: str
    citations: Citations
    claims: Claims
    notices: list[str] = Field(description="What a reader must know about the making of this report.")
    version: int = Field(default=1, description="1 is what the run delivered; later ones are changes by readers.")
    usage: Usage
    created_at: datetime


class EvidenceView(BaseModel):
    """The evidence of a report. Offsets count characters of the stored copy that `snapshot` names."""

    run_id: UUID
    question: str
    status: RunStatus
    usage: Usage
    citations: Citations
    claims: Claims = []


class VersionView(ReportView):
    """One version of a report, with its origin."""

    info: VersionInfo
    sections: list[SectionView]


class ChangeView(BaseModel):
    """A change of a section. When it is `done`, `version` is the new version's number; `usage` is what the change cost."""

    id: UUID
    how: TaskKind
    section: int | None
    base: int
    wish: str
    status: TaskStatus
    detail: str
    version: int | None
    usage: Usage
    created_at: datetime
    finished_at: datetime | None


class ChangePage(BaseModel):
    """One page of changes, newest first."""

    items: list[ChangeView]
    next: UUID | None = None


class AnswerView(BaseModel):
    """A follow-up question. `answered` is false where the evidence does not say; numbers are those of `citations`."""

    id: UUID
    question: str
    status: TaskStatus
    detail: str
    answered: bool | None = None
    markdown: str = ""
    citations: Citations = Field(default=[], description="As in a report.")
    claims: Claims = Field(default=[], description="As in a report.")
    support: dict[Support, int] = Field(default={}, description="How many statements the evidence supports how well.")
    usage: Usage
    created_at: datetime
    finished_at: datetime | None


class AnswerPage(BaseModel):
    """One page of follow-up questions, newest first."""

    items: list[AnswerView]
    next: UUID | None = None


class DisagreementPage(BaseModel):
    """Disagreements, those between sources first."""

    items: list[Disagreement]


class FigurePage(BaseModel):
    """Numbers in the order of their citations, and charts of those that can be compared."""

    items: list[Figure]
    charts: list[Chart]


class NewShare(BaseModel):
    """A link to make."""

    model_config = ConfigDict(extra="forbid")

    days: int = Field(default=30, ge=1, le=366, description="The days for which the report can be read.")
    version: int | None = Field(
        default=None, ge=1, le=MOST_VERSIONS, description="By default the newest; the link stays with this version."
    )


class CreatedShare(Share):
    """A new link. Only this answer ever shows `token`; anybody who has it reads the report at `path`."""

    token: str
    path: str


class SharePage(BaseModel):
    """A run's links, newest first."""

    items: list[Share]
    next: None = None


def change_view_of(task: ReportTask) -> ChangeView:
    """Return a task that changes a report, as its reader sees it."""
    request = task.request
    return ChangeView(
        id=task.id,
        how=request.kind,
        section=request.section,
        base=request.base,
        wish=request.text,
        status=task.status,
        detail=task.detail,
        version=task.version,
        usage=task.usage,
        created_at=task.created_at,
        finished_at=task.finished_at,
    )


def answer_view_of(task: ReportTask) -> AnswerView:
    """Return a follow-up question, as its reader sees it."""
    answer = _answer_fields_of(task.answer) if task.answer else {}
    return AnswerView(
        id=task.id,
        question=task.request.text,
        status=task.status,
        detail=task.detail,
        usage=task.usage,
        created_at=task.created_at,
        finished_at=task.finished_at,
        **answer,
    )


def _answer_fields_of(answer: FollowUp) -> dict[str, Any]:
    report = Report(title="", sections=(Section(heading="", body=answer.body),), quotes=answer.quotes, claims=answer.claims)
    numbering = number_citations(report)
    claims = describe_claims(report, numbering.citations)
    return {
        "answered": answer.answered,
        "markdown": remove_places(numbering.bodies[0]),
        "citations": [describe_citation(citation) for citation in numbering.citations],
        "claims": claims,
        "support": {support: n for support in Support if (n := sum(claim["support"] == support for claim in claims))},
    }


def section_views_of(report: Report) -> list[SectionView]:
    """Return the sections with numbers for markers."""
    bodies = number_citations(report).bodies
    return [
        SectionView(heading=section.heading, level=section.level, markdown=remove_places(body))
        for section, body in zip(report.sections, bodies, strict=True)
    ]
