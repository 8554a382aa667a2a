"""Making the rows of a set from candidates, several at a time: each candidate once, also when the work is killed and run again.

Which candidates a set has depends on their order alone, never on which of them ended first.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, Completion, ToolCall, ToolResult
from app.domain.errors import ModelUnavailable, ModelUnusable
from app.domain.run import EventType
from training.synthesis.training_set.mixture import Room
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate, WorkedCandidate
from workflows.agents.ports import ChatModel, Record, Tool
from workflows.systems.linear_pipeline import Window, run_pipeline


class Candidate(Protocol):
    """What a row may be made of. Its id is unique in the set, and says which candidate it is in every run."""

    @property
    def id(self) -> str:
        """The id."""
        ...


C = TypeVar("C", bound=Candidate)
MakeRow = Callable[[C, Record], Awaitable[KeptRow | RefusedCandidate]]


class Journal(Protocol):
    """Where finished candidates are written down, one after the other."""

    def read_worked(self) -> Iterable[WorkedCandidate]:
        """Read all that are written down."""
        ...

    def keep_worked(self, worked: WorkedCandidate) -> None:
        """Write one down."""
        ...


@dataclass
class CandidateRecord:
    """A `Record` for the work on one candidate: it passes calls on, and adds up what they cost.

    An answer that was stored costs what it cost when it was made, so that a set's price does not depend on interruptions.
    `away` is the error of a model that answers nothing at all: no candidate may fall out because of it.
    """

    record: Record
    usage: Usage = field(default_factory=Usage)
    away: ModelUnavailable | ModelUnusable | None = None

    async def ask(self, agent: str, step: str, model: ChatModel, request: ChatRequest) -> Completion:
        """See `Record.ask`."""
        try:
            answer = await self.record.ask(agent, step, model, request)
        except (ModelUnavailable, ModelUnusable) as away:
            self.away = away
            raise
        self.usage += answer.usage
        return answer

    async def use(self, agent: str, tool: Tool, call: ToolCall) -> ToolResult:
        """See `Record.use`."""
        return await self.record.use(agent, tool, call)

    async def tell(self, event: EventType, agent: str, *payloads: Mapping[str, Any]) -> None:
        """See `Record.tell`."""
        await self.record.tell(event, agent, *payloads)


@dataclass
class SetMaking(Generic[C]):
    """The work on a set: `wanted` rows from candidates in their order, of each class as many as there is room for.

    `told` is called at the end of each candidate.
    """

    make_row: MakeRow[C]
    record: Record
    journal: Journal
    wanted: int
    window: Window
    told: Callable[[WorkedCandidate], None] = lambda _: None
    room: Room = field(default_factory=Room)
    _worked: dict[str, WorkedCandidate] = field(default_factory=dict, init=False)
    _cancelled: set[str] = field(default_factory=set, init=False)
    _order: list[str] = field(default_factory=list, init=False)
    _taken: list[WorkedCandidate] = field(default_factory=list, init=False)
    _counted: int = field(default=0, init=False)
    _kept: int = field(default=0, init=False)

    async def work(self, candidates: Iterable[C]) -> list[WorkedCandidate]:
        """Work candidates until `wanted` rows are kept or none is left; return the worked ones in their order.

        The result ends with the candidate whose row was the last one wanted. Those that had begun after it, or after their class
        was full, are not in it, nor is one whose own work was cancelled, until the work is run again.

        Raises:
            ModelUnavailable, ModelUnusable: the model is away; the same work may go on later.
        """
        self._worked = {worked.candidate: worked for worked in self.journal.read_worked()}
        await run_pipeline(self._list_left(candidates), self._work_candidate, self._keep, self.window)
        self._has_enough()
        return self._taken

    def _list_left(self, candidates: Iterable[C]) -> Iterator[C]:
        """Yield the candidates that are not worked yet, as long as rows are missing."""
        for candidate in candidates:
            if self._has_enough():
                return
            if self.room.has_room(candidate.id):
                self._order.append(candidate.id)
                if candidate.id not in self._worked:
                    yield candidate

    def _has_enough(self) -> bool:
        """Say whether the worked candidates, up to the first that is under way, give the wanted rows."""
        while self._counted < len(self._order) and self._kept < self.wanted:
            name = self._order[self._counted]
            worked = self._worked.get(name)
            if worked is None and name not in self._cancelled:
                return False
            if worked is not None and self.room.has_room(name):
                self._take(worked)
            self._counted += 1
        return self._kept >= self.wanted

    def _take(self, worked: WorkedCandidate) -> None:
        self._taken.append(worked)
        if worked.kept is not None:
            self._kept += 1
            self.room.take(worked.candidate)

    async def _work_candidate(self, candidate: C) -> WorkedCandidate:
        record = CandidateRecord(self.record)
        try:
            outcome = await self.make_row(candidate, record)
        except asyncio.CancelledError:
            self._cancelled.add(candidate.id)
            raise
        if record.away is not None:
            raise record.away
        if isinstance(outcome, KeptRow):
            return WorkedCandidate(candidate=candidate.id, kept=outcome, usage=record.usage)
        return WorkedCandidate(candidate=candidate.id, refused=outcome, usage=record.usage)

    def _keep(self, _: C, worked: WorkedCandidate) -> None:
        self.journal.keep_worked(worked)
        self._worked[worked.candidate] = worked
        self.told(worked)
