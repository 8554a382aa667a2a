"""The research plan: subtasks with purpose, dependencies and expected evidence (MindDR section 3.1, planning agent)."""

from collections.abc import Container, Iterator
from datetime import date
from itertools import count

from pydantic import Field, model_validator

from app.domain.evidence import content_key
from app.domain.options import SearchScope
from app.domain.query import ResearchQuery
from app.domain.reading import Reading
from app.domain.safe_text import SafeText
from app.domain.value import Value

MAX_SUBTASKS = 12
SUBTASK_ID = r"^[a-z][a-z0-9_-]{0,31}$"


class Subtask(Value):
    """One part of the question, worked by one deep-search agent. `added`: a person put it into the plan, or worded it anew."""

    id: str = Field(pattern=SUBTASK_ID)
    title: SafeText = Field(min_length=1, max_length=200)
    question: SafeText = Field(min_length=1, max_length=2_000)
    purpose: SafeText = Field(default="", max_length=1_000)
    expected_evidence: SafeText = Field(default="", max_length=1_000)
    depends_on: tuple[str, ...] = ()
    added: bool = False


class ReaderWants(Value):
    """What the reader wants beside the goal.

    Its writer is told form, audience, length and how the question was understood; `scope`, `must_cover` and `key_terms` are for
    those who search. The dates limit the searches to sources published then, where the question says so.
    """

    form: SafeText = Field(default="", max_length=1_000)
    audience: SafeText = Field(default="", max_length=1_000)
    length: SafeText = Field(default="", max_length=1_000)
    readings: tuple[SafeText, ...] = Field(default=(), max_length=20)
    scope: SafeText = Field(default="", max_length=1_000)
    must_cover: tuple[SafeText, ...] = Field(default=(), max_length=20)
    key_terms: tuple[SafeText, ...] = Field(default=(), max_length=40)
    published_from: date | None = None
    published_to: date | None = None


class RemovedSubtask(Value):
    """A subtask that was taken out of a plan. What was found for it is stored under its id, which no other question may have.

    `asked` is a key of its question.
    """

    id: str
    asked: str


class ResearchPlan(Value):
    """What the run will look into. Subtasks without dependencies between them run in parallel.

    `intent` is the reader's goal; in plans from before `wants` it holds all that these say, in lines.

    `readings` says which words of the question were read otherwise than they were written. `unsplit` says why the model could not
    split the question; empty if it did, or if no model was to. `removed` are the subtasks that were taken out; the program keeps
    this list, whatever a client sends. `sources` describes the collections that are searched, as the planner was told.

    Raises:
        ValueError: on repeated ids, unknown or circular dependencies, none or too many subtasks.
    """

    intent: SafeText = Field(default="", max_length=8_000)
    wants: ReaderWants = ReaderWants()
    title: SafeText = Field(default="", max_length=300)
    subtasks: tuple[Subtask, ...] = Field(min_length=1, max_length=MAX_SUBTASKS)
    revision: int = Field(default=1, ge=1)
    readings: tuple[Reading, ...] = Field(default=(), max_length=12)
    unsplit: SafeText = Field(default="", max_length=1_000)
    removed: tuple[RemovedSubtask, ...] = ()
    sources: SafeText = Field(default="", max_length=8_000)

    @model_validator(mode="after")
    def _check_consistent(self) -> "ResearchPlan":
        ids = [s.id for s in self.subtasks]
        if len(set(ids)) != len(ids):
            raise ValueError("two subtasks share an id; give each its own")
        for subtask in self.subtasks:
            for needed in subtask.depends_on:
                if needed not in ids:
                    raise ValueError(f"subtask {subtask.id!r} depends on {needed!r}, which is not in the plan")
        if self._has_cycle():
            raise ValueError("the subtasks depend on each other in a circle; remove one dependency")
        return self

    def _has_cycle(self) -> bool:
        done: set[str] = set()
        while ready := [s for s in self.subtasks if s.id not in done and done.issuperset(s.depends_on)]:
            done.update(s.id for s in ready)
        return len(done) < len(self.subtasks)

    def narrow(self, query: ResearchQuery) -> ResearchQuery:
        """Return the query with the plan's dates as those of its scope, as far as the reader's own scope allows."""
        scope = query.scope or SearchScope()
        first = max(filter(None, (scope.published_from, self.wants.published_from)), default=None)
        last = min(filter(None, (scope.published_to, self.wants.published_to)), default=None)
        if (first, last) == (scope.published_from, scope.published_to) or (first and last and first > last):
            return query
        return query.model_copy(update={"scope": scope.model_copy(update={"published_from": first, "published_to": last})})

    @property
    def known_ids(self) -> frozenset[str]:
        """All ids that a subtask has or had: a new subtask must have another."""
        return frozenset({*(s.id for s in self.subtasks), *(removed.id for removed in self.removed)})

    def get_subtask(self, subtask_id: str) -> Subtask:
        """Return the subtask of this id; `KeyError` when the plan has none."""
        for subtask in self.subtasks:
            if subtask.id == subtask_id:
                return subtask
        raise KeyError(subtask_id)

    def is_awaited(self, subtask_id: str) -> bool:
        """Say whether another subtask depends on this one."""
        return any(subtask_id in subtask.depends_on for subtask in self.subtasks)

    def list_ready(self, done: frozenset[str], started: frozenset[str]) -> tuple[Subtask, ...]:
        """List the subtasks whose dependencies are all done and which have not been started, in plan order."""
        return tuple(s for s in self.subtasks if s.id not in started and s.id not in done and done.issuperset(s.depends_on))

    def ancestors_of(self, subtask_id: str) -> frozenset[str]:
        """Return the ids of all subtasks this one depends on, directly or not: exactly what its agent may read from memory."""
        seen: set[str] = set()
        waiting = list(self.get_subtask(subtask_id).depends_on)
        while waiting:
            current = waiting.pop()
            if current not in seen:
                seen.add(current)
                waiting.extend(self.get_subtask(current).depends_on)
        return frozenset(seen)


def key_question(question: str) -> str:
    """Return the key of a question, which is the same whatever its case and blanks."""
    return content_key(" ".join(question.casefold().split()))


def list_free_ids(prefix: str, taken: Container[str]) -> Iterator[str]:
    """Yield the ids of this prefix and a number, from 1 on, that are not taken."""
    return (name for n in count(1) if (name := f"{prefix}{n}") not in taken)
