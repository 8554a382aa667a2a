"""What the API answers, as far as the page shows it. Fields it does not know are ignored, so an API may grow."""

from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

FINISHED = frozenset({"completed", "failed", "cancelled"})
PARKED = frozenset({"awaiting_approval", "paused", "budget_reached"})


class Answer(BaseModel):
    """Base of everything read from the API: immutable, tolerant of new fields."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Usage(Answer):
    """What was consumed. Cost in millionths of a US dollar."""

    model_calls: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_microusd: int = 0

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens


class Budget(Answer):
    """A run's hard cap; None means none."""

    max_tokens: int | None = None
    max_cost_microusd: int | None = None
    max_seconds: int | None = None


class Subtask(Answer):
    """One part of the question."""

    id: str
    title: str
    question: str = ""
    purpose: str = ""
    expected_evidence: str = ""
    depends_on: tuple[str, ...] = ()


class Plan(Answer):
    """The subtasks and how they depend on each other."""

    intent: str = ""
    title: str = ""
    subtasks: tuple[Subtask, ...] = ()
    revision: int = 1


class Query(Answer):
    """The question and its options."""

    question: str
    language: str = "en"
    system: str = "minddr"
    effort: str = "standard"


class Run(Answer):
    """A run as the API shows it."""

    id: str
    query: Query
    status: str
    detail: str = ""
    plan: Plan | None = None
    usage: Usage = Usage()
    budget: Budget = Budget()
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None = None
    last_seq: int = 0

    @property
    def finished(self) -> bool:
        """True when nothing more will happen."""
        return self.status in FINISHED

    def elapsed(self, now: datetime) -> timedelta:
        """Wall time from creation to the end, or to `now` while it goes on."""
        return max((self.finished_at or now) - self.created_at, timedelta())


class RunPage(Answer):
    """A page of runs, newest first; `next` is what to pass as `before` for the page after it."""

    items: tuple[Run, ...] = ()
    next: str | None = None


class Event(Answer):
    """One line of a run's log."""

    seq: int
    type: str
    agent: str = ""
    payload: dict[str, Any] = Field(default_factory=dict)
    at: datetime


class CitedSource(Answer):
    """Where a quote was taken from. `snapshot` names the stored copy."""

    title: str = ""
    url: str = ""
    snapshot: str = ""
    author: str = ""
    venue: str = ""
    published: str | None = None
    doi: str = ""
    retracted: bool = False
    preprint: bool = False


class Citation(Answer):
    """A number in the report and the exact words it stands for; offsets count characters of the snapshot."""

    n: int
    quote: str
    start: int = 0
    end: int = 0
    source: CitedSource = CitedSource()


class Claim(Answer):
    """A sentence of the report, how well what it cites supports it, and why; `weak` says so of a claim on one weak source."""

    text: str
    section: str = ""
    citations: tuple[int, ...] = ()
    support: str = ""
    reason: str = ""
    weak: str = ""


class Report(Answer):
    """A finished report: Markdown with [n] in it, and what each n is."""

    markdown: str
    title: str = ""
    status: str = ""
    version: int = 1
    citations: tuple[Citation, ...] = ()
    claims: tuple[Claim, ...] = ()


class NewRun(BaseModel):
    """What the ask page sends. None leaves the choice to the API."""

    model_config = ConfigDict(frozen=True)

    question: str
    effort: str | None = None
    system: str | None = None
    beside: tuple[str, ...] | None = None
    language: str | None = None
    budget: Budget | None = None
    collections: tuple[str, ...] | None = None
    length: str | None = None
    tone: str | None = None
    audience: str | None = None
    format: str | None = None
    published_from: str | None = None
    published_to: str | None = None
    sources: tuple[str, ...] | None = None
    domains_allowed: tuple[str, ...] | None = None
    domains_refused: tuple[str, ...] | None = None
    clarified: tuple[dict[str, str], ...] | None = None
    approve_plan: bool | None = None
    rubric: str | dict[str, Any] | None = None
