"""The durable record: every turn is stored in PostgreSQL before the next one begins, and a stored turn is never repeated."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, Completion, ToolCall, ToolResult
from app.domain.contract import Halt
from app.domain.errors import ContextTooLong, ModelRefused, ModelUnavailable, ModelUnusable, ToolError
from app.domain.run import EventType, WaitReason
from app.domain.trajectory import Turn, TurnKind
from app.runs.storage.run_log import NOTHING
from workflows.agents.ports import ChatModel, Tool
from workflows.chat_models.call_watch import CallWatch
from workflows.durable.failures import RunHalted
from workflows.durable.given_up_calls import make_given_up_turn, sum_given_up
from workflows.durable.gone_models import RefusalWords, repeat_refusal
from workflows.durable.outage import ServerCircuit, backoff_after
from workflows.durable.policies import REFUSALS_IN_A_ROW
from workflows.durable.run_rooms import CallKey, SharedCall
from workflows.durable.silence import USUAL_PATIENCE, SilencePolicy, await_answer
from workflows.durable.stage_ledger import StageLedger
from workflows.durable.wait_telling import WaitTelling
from workflows.systems.local_record import describe_model_call, describe_tool_call, digest_call
from workflows.systems.stored_turns import StoredTurns

T = TypeVar("T")
SHOWN_SOURCES = 3


class DurableRecord:
    """The record of one attempt at one stage. `models` and `index` know whether the servers behind them answer.

    `explain` says in words for the run's reader why a model answers none of its requests.

    A turn that has begun ends and is stored even when the agent that waits for it is cancelled; `drain` waits for such turns,
    `abort` gives them up. `usage` counts the usage of the whole stage, replayed turns included; `refused` tells for which reasons
    an agent had to do without an answer that it asked for, each a reason why a run may pause.
    """

    def __init__(
        self,
        ledger: StageLedger,
        stored: Iterable[Turn],
        models: Callable[[str], ServerCircuit],
        index: ServerCircuit,
        silence: Callable[[str], SilencePolicy] = lambda _: USUAL_PATIENCE,
        explain: RefusalWords = repeat_refusal,
    ) -> None:
        self._ledger = ledger
        self._models = models
        self._index = index
        self._silence = silence
        self._explain = explain
        self._stored = StoredTurns(stored)
        self._before = self._stored.read_elapsed_s()
        self._began = time.monotonic()
        self._clock = 0.0
        self._under_way: set[asyncio.Future[Any]] = set()
        self._in_hand: set[asyncio.Future[Any]] = set()
        self._waits = WaitTelling(ledger)
        self.usage = sum_given_up(self._stored)
        self.refused: set[WaitReason] = set()

    def read_clock(self) -> float:
        """Return the stage's working time in seconds when its latest turn ended; a replayed turn gives the same time."""
        return self._clock

    async def ask(self, agent: str, step: str, model: ChatModel, request: ChatRequest) -> Completion:
        """Return the stored answer to exactly this request, or ask the model and store the answer before returning it."""
        ordinal = self._stored.claim_ordinal(agent)
        before, carried = self._stored.count_carried(agent, request.messages)
        digest = self._stored.digest_request(agent, request, model.name, carried)
        stored = self._stored.find_answer(agent, ordinal, digest)
        if stored is not None and stored.completion is not None:
            return self._count_turn(stored, stored.completion, stored.completion.usage)
        grown = 0 < before == carried
        turn = Turn(
            agent=agent,
            ordinal=ordinal,
            kind=TurnKind.MODEL,
            step=step,
            digest=digest,
            carried=carried,
            messages=request.messages[carried:],
        )
        try:
            return await self._run_to_end(self._ask_model(turn, model, request, grown))
        except Exception:
            self._stored.forget_messages(agent)
            raise

    async def use(self, agent: str, tool: Tool, call: ToolCall) -> ToolResult:
        """Return the stored result of this call, or make the call. A failed call is a result too, stored like any other."""
        ordinal, digest = self._stored.claim_ordinal(agent), digest_call(call)
        stored = self._stored.find_answer(agent, ordinal, digest)
        if stored is not None and stored.result is not None:
            return self._count_turn(stored, stored.result, stored.result.usage)
        turn = Turn(agent=agent, ordinal=ordinal, kind=TurnKind.TOOL, step=call.name, digest=digest, call=call)
        return await self._run_to_end(self._use_tool(turn, tool, call))

    async def tell(self, event: EventType, agent: str, payload: Mapping[str, Any]) -> None:
        """Append an event, unless this part of the stage is replayed."""
        if not self._stored.has_next(agent):
            await self._ledger.tell(event, agent, payload)

    async def call_index(self, agent: str, what: str, call: Callable[[], Awaitable[T]]) -> T:
        """Call the index outside a turn, and wait while it is away, also when the stage was told to hand over what it has."""
        return await self._index.call(call, self._waits.make_notice(agent, what, self._ledger.read_halts))

    async def drain(self, limit: timedelta) -> None:
        """Wait for turns under way to be stored; give up those that take longer than `limit`."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=limit.total_seconds())
        self.abort()

    def abort(self) -> None:
        """Give up the turns under way, except those whose answer has arrived: it is paid for and will be stored."""
        for turn in self._under_way - self._in_hand:
            turn.cancel()

    def interrupt(self, halted: RunHalted) -> None:
        """End the turns under way as `abort` does; the agents that wait for them halt."""
        self._ledger.stopped = self._ledger.stopped or halted
        self.abort()

    @contextlib.contextmanager
    def _storing_answer(self) -> Iterator[None]:
        """Mark this turn as one whose answer is being stored."""
        turn = asyncio.current_task()
        assert turn is not None
        self._in_hand.add(turn)
        try:
            with self._ledger.room.count_answer(self._ledger.stage):
                yield
        finally:
            self._in_hand.discard(turn)

    async def _ask_model(self, turn: Turn, model: ChatModel, request: ChatRequest, grown: bool) -> Completion:
        allowance, prices = self._ledger.allowance_of(turn.agent), self._ledger.prices_of(model.name)
        await self._ledger.permit(turn.agent, allowance.reserve_request(prices, request, turn.carried, grown))
        with self._ledger.room.count_turn():
            completion = await self._complete(turn, model, request)
            following = allowance.reserve_next(prices, request, completion)
            done = turn.model_copy(update={"completion": completion, "elapsed_s": self._stage_time()})
            payload = describe_model_call(turn.step, completion)
            room, key = self._ledger.room, self._key_of(turn)
            usage = Usage() if await room.is_billed(key) else completion.usage
            with self._storing_answer():
                recorded = await self._ledger.store(done, usage, following, EventType.MODEL_CALL, payload)
            room.end_call(key, recorded)
        return self._count_turn(done, completion, completion.usage)

    async def _complete(self, turn: Turn, model: ChatModel, request: ChatRequest) -> Completion:
        """Return the model's answer.

        Raises:
            RunHalted: the server refuses whatever it is asked, or no search of the run fits into the model's context.
            ModelRefused: it refuses this request.
        """
        server = self._models(model.name)
        notice = self._waits.make_notice(turn.agent, "model", self._ledger.read_wishes)
        while True:
            try:
                return await server.call(lambda: self._call(turn, model, request, CallWatch(server.voice)), notice)
            except ContextTooLong as full:
                self.refused.add(WaitReason.CONTEXT_TOO_LONG)
                if await self._ledger.is_unanswered_search():
                    self._ledger.halt_run(Halt.CONTEXT_TOO_LONG, str(full))
                raise
            except ModelUnusable as refusal:
                if refusal.certain or server.refusals >= REFUSALS_IN_A_ROW:
                    self._ledger.halt_run(Halt.MODEL_REFUSED, await self._explain(model.name, refusal))
            except ModelRefused as refusal:
                self.refused.add(WaitReason.MODEL_REFUSED)
                if server.refusals >= REFUSALS_IN_A_ROW:
                    self._ledger.halt_run(Halt.MODEL_REFUSED, str(refusal))
                raise
            await asyncio.sleep(backoff_after(server.refusals, server.draw).total_seconds())

    async def _call(self, turn: Turn, model: ChatModel, request: ChatRequest, watch: CallWatch) -> Completion:
        """Call the model once. If a replaced attempt makes or made the same call here, its answer serves this one.

        Raises:
            RunHalted: another attempt has taken this call over.
            ModelUnavailable: besides the model's own, the call was silent for too long and was given up.
        """
        call = self._ledger.room.share_call(self._key_of(turn), watch, model, request, self)
        try:
            answered = await await_answer(call, request, self._silence(model.name), partial(self._waits.tell_silence, turn.agent))
        except asyncio.CancelledError:
            if call.owner is self:
                call.answer.cancel()
            raise
        if call.owner is not self:
            raise RunHalted(Halt.SUPERSEDED)
        if not answered:
            await self._give_up(call, turn, model, request)
        return call.answer.result()

    async def _give_up(self, call: SharedCall, turn: Turn, model: ChatModel, request: ChatRequest) -> None:
        """End a call, and book what it cost. It has ended, and its connection is closed, before it is made once more.

        Raises:
            ModelUnavailable: always, unless the answer has come at the last moment.
            RunHalted: the budget has no room any more for this call.
        """
        call.answer.cancel()
        await asyncio.wait((call.answer,))
        if not call.answer.cancelled():
            return
        booked = make_given_up_turn(turn, request, model.name, call.watch, self._ledger.prices_of(model.name))
        booked = booked.model_copy(update={"ordinal": self._stored.claim_unused(booked.agent)})
        assert booked.completion is not None
        told = describe_model_call(booked.step, booked.completion)
        with self._storing_answer():
            await self._ledger.store(booked, booked.completion.usage, None, EventType.MODEL_CALL, told)
        self.usage += booked.completion.usage
        await self._ledger.renew(turn.agent)
        raise ModelUnavailable(f"{model.name} was silent for {call.watch.silent_s:.0f} s, so the call was given up")

    def _key_of(self, turn: Turn) -> CallKey:
        return self._ledger.stage, turn.agent, turn.ordinal, turn.digest

    async def _use_tool(self, turn: Turn, tool: Tool, call: ToolCall) -> ToolResult:
        await self._ledger.permit(turn.agent, NOTHING)
        with self._ledger.room.count_turn():
            result = await self._call_tool(turn.agent, tool, call)
            done = turn.model_copy(update={"result": result, "elapsed_s": self._stage_time()})
            with self._storing_answer():
                await self._ledger.store(done, result.usage, None, EventType.TOOL_CALL, _describe_tool_call(call, result))
        return self._count_turn(done, result, result.usage)

    async def _call_tool(self, agent: str, tool: Tool, call: ToolCall) -> ToolResult:
        try:
            notice = self._waits.make_notice(agent, call.name, self._ledger.read_wishes)
            return await self._index.call(lambda: tool.call(call.arguments), notice)
        except ToolError as error:
            return ToolResult(error=str(error))

    async def _run_to_end(self, turn: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(turn)
        self._under_way.add(task)
        task.add_done_callback(self._forget_turn)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled() and self._ledger.stopped is not None:
                raise self._ledger.stopped from None
            raise

    def _forget_turn(self, task: "asyncio.Future[Any]") -> None:
        """Read a task's outcome, because nobody may wait for it any more and asyncio would report it as never retrieved."""
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()

    def _count_turn(self, turn: Turn, answer: T, usage: Usage) -> T:
        self.usage += usage
        self._clock = max(self._clock, turn.elapsed_s)
        return answer

    def _stage_time(self) -> float:
        return round(self._before + time.monotonic() - self._began, 3)


def _describe_tool_call(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    found = {passage.source.url: passage.source.title for passage in result.passages}
    sources = [{"title": title, "url": url} for url, title in list(found.items())[:SHOWN_SOURCES]]
    note = {"note": result.note} if result.note else {}
    return {**describe_tool_call(call, result), "sources": sources, **note}
