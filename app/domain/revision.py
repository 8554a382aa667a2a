"""Changes of a finished report by its readers, and questions about its evidence."""

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from pydantic import Field

from app.domain.budget import Usage
from app.domain.claims import Claim
from app.domain.evidence import Quote
from app.domain.value import Value

DELIVERED = 1
LONGEST_QUESTION = 2_000  # characters


class TaskKind(StrEnum):
    """The kind of a task: a change of one section, a question answered from the stored evidence, or judging by a later rubric."""

    EDIT = "edit"
    REWRITE = "rewrite"
    DEEPEN = "deepen"
    QUESTION = "question"
    SCORE = "score"


class TaskStatus(StrEnum):
    """The status of a task."""

    QUEUED = "queued"
    DONE = "done"
    FAILED = "failed"


class TaskRequest(Value):
    """A task to do to version `base`.

    A change names the section (from 0). `heading` and `body` are an edit's; a body cites quotes as `[[key]]`. `text` is the
    question, or what a rewritten section should do better.
    """

    kind: TaskKind
    base: int = Field(ge=DELIVERED)
    section: int | None = Field(default=None, ge=0)
    heading: str = ""
    body: str = ""
    text: str = ""


class FollowUp(Value):
    """An answer from the evidence of a run. `answered` is false where the evidence does not say; `body` cites as a report's."""

    body: str
    quotes: tuple[Quote, ...] = ()
    claims: tuple[Claim, ...] = ()
    answered: bool = True


class ReportTask(Value):
    """A task as it stands. `version` is the version that a change made; `usage` is its cost, in the run's ledger too."""

    id: UUID
    run_id: UUID
    request: TaskRequest
    status: TaskStatus = TaskStatus.QUEUED
    detail: str = ""
    version: int | None = None
    answer: FollowUp | None = None
    usage: Usage = Usage()
    created_at: datetime
    finished_at: datetime | None = None


class VersionOrigin(StrEnum):
    """The origin of a version."""

    DELIVERED = "delivered"
    EDITED = "edited"
    REWRITTEN = "rewritten"
    DEEPENED = "deepened"
    REVERTED = "reverted"
    CHOSEN = "chosen"


ORIGINS = {
    TaskKind.EDIT: VersionOrigin.EDITED,
    TaskKind.REWRITE: VersionOrigin.REWRITTEN,
    TaskKind.DEEPEN: VersionOrigin.DEEPENED,
}


class VersionInfo(Value):
    """A version without its text. `based_on` is the version it was made from; for a reverted one, the version brought back."""

    n: int
    origin: VersionOrigin
    based_on: int | None = None
    section: int | None = None
    note: str = ""
    usage: Usage = Usage()
    created_at: datetime
