"""The linear concurrent pipeline (QSR appendix F, see `systems/linear_pipeline.py`) over the workers of a deployment."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from itertools import islice
from uuid import UUID

from app.domain.errors import Conflict
from app.domain.fleets import FleetEnd, FleetQuestion
from app.fleets.service import Fleets

ADDED_AT_ONCE = 200
LOOK_EVERY = timedelta(milliseconds=250)
LONGEST_PAUSE = timedelta(seconds=2)


class FleetPipeline:
    """A data set of questions: each is a run of its own, stored, billed and resumed like any other.

    The fleet outlives the process that follows it. A process that runs it again under the same id gets all results from the
    beginning; ended questions are not worked again.
    """

    def __init__(self, fleets: Fleets, fleet: UUID, at_once: int) -> None:
        self._fleets = fleets
        self._fleet = fleet
        self._at_once = at_once

    async def run(self, samples: Iterable[FleetQuestion], done: Callable[[FleetQuestion, FleetEnd], None]) -> int:
        """Have every question worked and call `done` with each result as it ends. Return the number of questions.

        A question that fails has a result that says so.

        Raises:
            Exception: the error that `done` or the data set raised.
            InvalidInput: a question cannot be worked by a fleet, or a name is given twice.
            Conflict: the fleet is complete already, with other questions.
            Unavailable: the database or the workflow service does not answer. The fleet goes on; run it again to follow it.
        """
        await self._fleets.make(self._fleet, self._at_once)
        heard = _ResultFeed(done)
        feeding = asyncio.create_task(self._add_samples(samples, heard))
        try:
            await self._follow_results(feeding, heard)
        finally:
            feeding.cancel()
            await asyncio.wait((feeding,))
        return heard.count

    async def _add_samples(self, samples: Iterable[FleetQuestion], heard: "_ResultFeed") -> None:
        """Add the questions a micro-batch at a time. A fleet that is complete has them all."""
        complete = (await self._fleets.get(self._fleet)).gathered
        source = iter(samples)
        while batch := list(islice(source, ADDED_AT_ONCE)):
            heard.add_questions(batch)
            if complete:
                await asyncio.sleep(0)
            else:
                await self._fleets.add(self._fleet, batch)
        if not complete:
            await self._fleets.complete(self._fleet)

    async def _follow_results(self, feeding: asyncio.Task[None], heard: "_ResultFeed") -> None:
        number, pause = 0, LOOK_EVERY
        while True:
            over = feeding.done() and (await self._fleets.get(self._fleet)).ended_at is not None
            ends = await self._fleets.list_ends(self._fleet, number)
            heard.add_ends(ends)
            number = ends[-1].number if ends else number
            if feeding.done():
                feeding.result()
            if over and not ends:
                heard.require_all(self._fleet)
                return
            pause = LOOK_EVERY if ends else min(pause * 1.2, LONGEST_PAUSE)
            await asyncio.sleep(0 if ends else pause.total_seconds())


class _ResultFeed:
    """Hands results over in their order, each with its question. After a restart a result may arrive before its question."""

    def __init__(self, done: Callable[[FleetQuestion, FleetEnd], None]) -> None:
        self._done = done
        self._expected: dict[str, FleetQuestion] = {}
        self._ends: deque[FleetEnd] = deque()
        self.count = 0

    def add_questions(self, questions: Sequence[FleetQuestion]) -> None:
        self.count += len(questions)
        self._expected |= {question.name: question for question in questions}
        self._hand_over()

    def add_ends(self, ends: Iterable[FleetEnd]) -> None:
        self._ends.extend(ends)
        self._hand_over()

    def _hand_over(self) -> None:
        while self._ends and (question := self._expected.pop(self._ends[0].name, None)):
            self._done(question, self._ends.popleft())

    def require_all(self, fleet: UUID) -> None:
        """Hand over the rest and check that every question has a result. Results of other questions are ignored.

        Raises:
            Conflict: a question has no result.
        """
        for end in self._ends:
            if question := self._expected.pop(end.name, None):
                self._done(question, end)
        if self._expected:
            missing = next(iter(self._expected))
            raise Conflict(f"the fleet {fleet} was complete without {missing!r}; make another one")
