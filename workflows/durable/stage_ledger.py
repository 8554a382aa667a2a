"""The ledger of one attempt at a stage: halts, reservations, and storing turns."""

import asyncio
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple, NoReturn
from uuid import UUID

from app.domain.budget import StopReason, Usage
from app.domain.contract import Halt
from app.domain.errors import NotFound, Unavailable
from app.domain.run import EventType
from app.domain.trajectory import Turn
from app.runs.storage import steering, stored_turns
from app.runs.storage.run_log import NOTHING, Reservation, RunLog
from workflows.agents.ports import BudgetSpent
from workflows.agents.stage_memory import path_of_search
from workflows.chat_models.endpoint import ModelPrices
from workflows.durable.allowance import AgentAllowance
from workflows.durable.failures import RunHalted, WorkerStopping
from workflows.durable.persistence import persist
from workflows.durable.policies import RESERVATIONS_LIVE, RESERVATIONS_POLL
from workflows.durable.run_rooms import RunRoom


class LastEvent(NamedTuple):
    """The number of a run's latest event, and when it was first seen here, in seconds of the monotonic clock."""

    latest: int | None
    at: float


@dataclass
class StageLedger:
    """One attempt at one stage. `prices_of` gives the prices of a model. `first` is the reservation made when the stage
    opened; the first agent that asks gets it.

    With `finish` no further turn is allowed and the stage ends with what it has. `stopping` says whether this worker is about to
    end. Unless the run is `capped`, calls need no reservation; a cap that is set meanwhile is read with the next stored turn.
    """

    log: RunLog
    run_id: UUID
    stage: str
    attempt: int
    room: RunRoom
    prices_of: Callable[[str], ModelPrices]
    stopping: Callable[[], bool]
    first: Reservation = NOTHING
    finish: bool = False
    capped: bool = True
    halt: Halt = Halt.NONE
    stopped: RunHalted | WorkerStopping | None = field(default=None, init=False)
    _agents: dict[str, AgentAllowance] = field(default_factory=dict, init=False)
    _waited_since: LastEvent = field(default=LastEvent(None, 0.0), init=False)
    _calls: Iterator[int] = field(default_factory=lambda: itertools.count(1), init=False)

    def allowance_of(self, agent: str) -> AgentAllowance:
        """Return the agent's reservation."""
        found = self._agents.get(agent)
        if found is None:
            found = self._agents[agent] = AgentAllowance(self.first)
            self.first = NOTHING
        return found

    async def permit(self, agent: str, need: Reservation) -> None:
        """Return when the agent may make a call of this size.

        Raises:
            RunHalted: the run pauses, ends, or has reached its budget.
            WorkerStopping: this worker is about to end.
            BudgetSpent: the stage has to hand over what it has.
        """
        self._obey_wishes()
        allowance = self.allowance_of(agent)
        need = need if self.capped else NOTHING
        while self.halt is Halt.BUDGET or not allowance.covers(need):
            if await self._reserve(allowance, need):
                return
            if not await self._may_get_room():
                self._stop(RunHalted(Halt.BUDGET))
            self._obey_wishes()

    async def store(
        self, turn: Turn, usage: Usage, following: Reservation | None, event: EventType, payload: Mapping[str, Any]
    ) -> bool:
        """Store a turn, however long that takes, and return whether it is recorded: a replaced attempt's is only billed.

        After a model turn its reservation is exchanged for `following`. A halt that comes meanwhile takes effect before the next
        turn.
        """
        allowance = self.allowance_of(turn.agent)
        released = NOTHING if following is None else allowance.held
        reserved = following if following is not None and self.capped else NOTHING
        receipt = await persist(
            lambda: self.log.store_turn(self.run_id, self.stage, self.attempt, turn, usage, released, reserved, event, payload)
        )
        self.halt, self.capped = receipt.halt, receipt.capped
        if following is not None:
            allowance.held = reserved if receipt.granted else NOTHING
        return receipt.halt is not Halt.SUPERSEDED

    async def renew(self, agent: str) -> None:
        """Reserve anew what the agent holds, because something else was billed meanwhile.

        Raises:
            RunHalted: the budget has no room for it any more.
        """
        allowance = self.allowance_of(agent)
        if self.capped and not await self._reserve(allowance, allowance.held):
            self._stop(RunHalted(Halt.BUDGET))

    def halt_run(self, halt: Halt, reason: str) -> NoReturn:
        """Halt the whole run, because the model answers none of its requests.

        Raises:
            RunHalted: always.
        """
        self._stop(RunHalted(halt, reason))

    async def is_unanswered_search(self) -> bool:
        """Return whether this is a search of a run whose searches the model has never answered."""
        searches = self.stage.startswith(path_of_search(""))
        return searches and not await persist(lambda: stored_turns.has_search_answers(self.log.executor, self.run_id))

    async def release(self) -> None:
        """Give back all reservations, because this attempt makes no further call. An open stage would hold them for ever."""
        released = self._take_back()
        if released != NOTHING:
            with suppress(NotFound):  # the run was deleted
                await self._exchange(released, None)

    async def read_wishes(self) -> None:
        """Read the run's wishes now, without a turn. A database that is away changes nothing.

        Raises:
            RunHalted, WorkerStopping, BudgetSpent: as `permit`.
        """
        try:
            self.halt, granted = await self.log.reserve(self.run_id, self.stage, self.attempt, NOTHING, NOTHING)
        except Unavailable:
            granted = True
        self._obey_wishes()
        if not granted:
            self._stop(RunHalted(Halt.BUDGET))

    async def read_halts(self) -> None:
        """Read the run's wishes as `read_wishes` does, for a stage that hands over what it has: it need not be told to.

        Raises:
            RunHalted, WorkerStopping: as `permit`.
        """
        try:
            await self.read_wishes()
        except BudgetSpent:
            if self.halt not in (Halt.NONE, Halt.BUDGET, Halt.DROPPED):
                self._stop(RunHalted(self.halt))

    async def find_interruption(self, oldest: timedelta = timedelta(0)) -> RunHalted | None:
        """Return why the calls in flight must end, if they must; no further call is then permitted.

        An answer that another stage of the run has got here counts while it is not older than `oldest`. A database that is away
        changes nothing.
        """
        found = await self.room.find_wish(self._ask_interruption, oldest)
        if found is None:
            return None
        if self.finish and found is Halt.BUDGET:
            found = Halt.NONE  # a stage that hands over what it has spends nothing
        if found is not Halt.NONE or self.halt in (Halt.PAUSE, Halt.CANCEL):
            self.halt = found  # also when the reader has changed their mind
        return None if found is Halt.NONE else RunHalted(found)

    async def _ask_interruption(self) -> Halt | None:
        try:
            return await steering.find_interruption(self.log.executor, self.run_id)
        except Unavailable:
            return None

    async def tell(self, event: EventType, agent: str, payload: Mapping[str, Any]) -> None:
        """Append an event, unless a newer attempt has taken over."""
        call = next(self._calls)
        await persist(lambda: self.log.append_once(self.run_id, self.stage, self.attempt, call, event, agent, payload))

    async def _reserve(self, allowance: AgentAllowance, need: Reservation) -> bool:
        self.halt, granted = await self._exchange(allowance.held, need)
        allowance.held = need if granted else NOTHING
        self._obey_wishes()
        return granted

    async def _exchange(self, released: Reservation, need: Reservation | None) -> tuple[Halt, bool]:
        call = next(self._calls)
        return await persist(lambda: self.log.reserve(self.run_id, self.stage, self.attempt, released, need, call))

    async def _may_get_room(self) -> bool:
        """Say whether reserved room may have become free. If nobody holds a reservation, the budget is really used up.

        Room may be held by a turn under way here, by agents of this stage that make no call now (they ask again before their next
        call), or by other stages: those of other workers, and those of a dead worker until they are opened again.
        """
        if await self.room.wait_for_turn_end():
            return True
        released = self._take_back()
        if released != NOTHING:
            await self._exchange(released, None)
            return True
        held = await self._others_hold()
        if held:
            await asyncio.sleep(RESERVATIONS_POLL.total_seconds())
        return held

    async def _others_hold(self) -> bool:
        """Say whether others have something reserved, and the run has had an event for as long as a living one goes without."""
        latest, now = await persist(lambda: self.log.others_hold(self.run_id, self.stage)), time.monotonic()
        if latest != self._waited_since.latest:
            self._waited_since = LastEvent(latest, now)
        return latest is not None and now - self._waited_since.at < RESERVATIONS_LIVE.total_seconds()

    def _take_back(self) -> Reservation:
        """Take all reservations from the agents of this stage and return their sum."""
        held = [self.first, *(allowance.held for allowance in self._agents.values())]
        self.first = NOTHING
        for allowance in self._agents.values():
            allowance.held = NOTHING
        return Reservation(sum(one.tokens for one in held), sum(one.cost_microusd for one in held))

    def _obey_wishes(self) -> None:
        """Obey wishes for the whole stage. The budget is checked before each agent's next call.

        Raises:
            RunHalted, WorkerStopping, BudgetSpent: as `permit`.
        """
        if self.stopping():
            self._stop(WorkerStopping())
        if self.finish:
            raise BudgetSpent(StopReason.BUDGET)
        if self.halt is Halt.DROPPED:
            raise BudgetSpent(StopReason.DROPPED)
        if self.halt not in (Halt.NONE, Halt.BUDGET):
            self._stop(RunHalted(self.halt))

    def _stop(self, reason: RunHalted | WorkerStopping) -> NoReturn:
        """Raise the reason and remember it: an agent that swallows the error must not store what it has as its result."""
        self.stopped = self.stopped or reason
        raise reason
