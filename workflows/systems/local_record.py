"""A record in memory: for training, evaluation, the command line and tests. It replays the turns it is given."""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias, TypeVar

import orjson

from app.domain.budget import StopReason, Usage
from app.domain.chat import ChatRequest, Completion, ToolCall, ToolResult
from app.domain.errors import ModelUnavailable, ModelUnusable, ToolError, ToolUnavailable
from app.domain.run import EventType
from app.domain.trajectory import Trajectory, Turn, TurnKind, request_digest
from workflows.agents.ports import BudgetSpent, ChatModel, Tool
from workflows.systems.stored_turns import StoredTurns

T = TypeVar("T")
EventWatcher: TypeAlias = Callable[[EventType, str, Mapping[str, Any]], None]
TurnKeeper: TypeAlias = Callable[[Turn], None]
TurnPermission: TypeAlias = Callable[[str, Usage], StopReason | None]


@dataclass(frozen=True, slots=True)
class OutagePatience:
    """The waits during an outage: pauses double from `first` to `longest`, until `whole` has passed."""

    first: timedelta
    longest: timedelta
    whole: timedelta


USUAL_PATIENCE = OutagePatience(timedelta(seconds=1), timedelta(minutes=1), timedelta(minutes=10))


def _ignore_event(_: EventType, __: str, ___: Mapping[str, Any]) -> None:
    return None


def _ignore_turn(_: Turn) -> None:
    return None


def _allow_turn(_: str, __: Usage) -> StopReason | None:
    return None


class LocalRecord:
    """The turns of one episode, in the order in which they ended.

    `keep` gets each new turn before its answer is used, so that a killed process can continue later. `allow` is called before
    each new turn with the agent's path and the usage so far; when it returns a reason, that agent's stage ends. `clock` returns
    seconds, `pause` waits for seconds. `outage` says what was away for longer than the record's patience, or why the model's
    server answers no request at all; empty: nothing.
    """

    def __init__(
        self,
        episode: str,
        turns: Iterable[Turn] = (),
        *,
        keep: TurnKeeper = _ignore_turn,
        watch: EventWatcher = _ignore_event,
        allow: TurnPermission = _allow_turn,
        patience: OutagePatience = USUAL_PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._episode = episode
        self._stored = StoredTurns(turns)
        self._turns: list[Turn] = []
        self._watch, self._allow, self._patience = watch, allow, patience
        self._store = keep
        self._clock, self._pause = clock, pause
        self._times: dict[str, StageTime] = {}
        self.usage = Usage()
        self.outage = ""

    @property
    def trajectory(self) -> Trajectory:
        """Everything that happened, including the token ids of sampled answers."""
        return Trajectory(episode=self._episode, turns=tuple(self._turns))

    def elapsed_of(self, stage: str) -> float:
        """Return the stage's time in seconds at the end of its latest turn; a replay gives the time of the original turns."""
        return self._time_of(stage).elapsed

    def _time_of(self, stage: str) -> "StageTime":
        return self._times.setdefault(stage, StageTime(0.0, self._clock()))

    async def ask(self, agent: str, step: str, model: ChatModel, request: ChatRequest) -> Completion:
        """Return the stored answer to exactly this request, or ask the model for a new one.

        Raises:
            ModelUnavailable: the model was away for longer than the record's patience.
            ModelUnusable: its server answers no request at all until a person changes something.
        """
        digest = request_digest(request, model.name)
        ordinal = self._stored.claim_ordinal(agent)
        stored = self._stored.find_answer(agent, ordinal, digest)
        completion = stored.completion if stored and stored.completion else None
        if completion is None:
            self._check_allowed(agent)
            completion = await self._wait_out("model", agent, lambda: model.complete(request))
            self._watch(EventType.MODEL_CALL, agent, describe_model_call(step, completion))
        _, carried = self._stored.count_carried(agent, request.messages)
        self._keep_turn(
            Turn(
                agent=agent,
                ordinal=ordinal,
                kind=TurnKind.MODEL,
                step=step,
                digest=digest,
                carried=carried,
                messages=request.messages[carried:],
                completion=completion,
            ),
            stored,
        )
        self.usage += completion.usage
        return completion

    async def use(self, agent: str, tool: Tool, call: ToolCall) -> ToolResult:
        """Return the stored result of this call, or call the tool. A tool's error is a result too, but no outage is.

        Raises:
            ToolUnavailable: the tool was away for longer than the record's patience.
        """
        digest = digest_call(call)
        ordinal = self._stored.claim_ordinal(agent)
        stored = self._stored.find_answer(agent, ordinal, digest)
        result = stored.result if stored and stored.result else None
        if result is None:
            self._check_allowed(agent)
            result = await self._wait_out(call.name, agent, lambda: _call_tool(tool, call))
            self._watch(EventType.TOOL_CALL, agent, describe_tool_call(call, result))
        turn = Turn(agent=agent, ordinal=ordinal, kind=TurnKind.TOOL, step=call.name, digest=digest, call=call, result=result)
        self._keep_turn(turn, stored)
        self.usage += result.usage
        return result

    async def tell(self, event: EventType, agent: str, *payloads: Mapping[str, Any]) -> None:
        """Pass an event to the watcher for each payload."""
        for payload in payloads:
            self._watch(event, agent, payload)

    def _check_allowed(self, agent: str) -> None:
        reason = self._allow(agent, self.usage)
        if reason is not None:
            raise BudgetSpent(reason)

    def _keep_turn(self, turn: Turn, stored: Turn | None) -> None:
        time_of_stage, now = self._time_of(stage_of(turn.agent)), self._clock()
        elapsed = stored.elapsed_s if stored else time_of_stage.elapsed + now - time_of_stage.read_at
        self._times[stage_of(turn.agent)] = StageTime(max(elapsed, time_of_stage.elapsed), now)
        timed = turn.model_copy(update={"elapsed_s": elapsed})
        self._turns.append(timed)
        if stored is None:
            self._store(timed)

    async def _wait_out(self, what: str, agent: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the answer to `ask`, which is repeated during an outage for as long as the patience lasts."""
        backoff, left = self._patience.first, self._patience.whole
        while True:
            try:
                return await ask()
            except ModelUnusable as refusal:
                self.outage = str(refusal)
                raise
            except (ModelUnavailable, ToolUnavailable) as outage:
                wait = max(backoff, outage.retry_after or backoff)
                if wait > left:
                    self.outage = str(outage)
                    raise
                told = {"what": what, "detail": str(outage), "retry_in_s": round(wait.total_seconds(), 1)}
                self._watch(EventType.WAITING, agent, told)
                await self._pause(wait.total_seconds())
                backoff, left = min(backoff * 2, self._patience.longest), left - wait


class StageTime(NamedTuple):
    """A stage's own time in seconds, and the clock's value when that time was read."""

    elapsed: float
    read_at: float


def stage_of(agent: str) -> str:
    """Return the stage an agent belongs to: `report` for `report/section/3`, `search/s2` for `search/s2/state`."""
    return "/".join(agent.split("/")[:2]) if agent.startswith("search/") else agent.partition("/")[0]


def digest_call(call: ToolCall) -> str:
    """Return the SHA-256 (hex) of a tool's name and arguments."""
    return hashlib.sha256(orjson.dumps([call.name, call.arguments], option=orjson.OPT_SORT_KEYS)).hexdigest()


async def _call_tool(tool: Tool, call: ToolCall) -> ToolResult:
    try:
        return await tool.call(call.arguments)
    except ToolUnavailable:
        raise
    except ToolError as error:
        return ToolResult(error=str(error))


def describe_tool_call(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    """Return what the log tells of a tool call: of an argument that is a list, only how long it is."""
    told = {name: len(value) if isinstance(value, list | tuple) else value for name, value in call.arguments.items()}
    return {**told, "tool": call.name, "results": len(result.passages), "error": result.error}


def describe_model_call(step: str, completion: Completion) -> dict[str, Any]:
    """Return the payload of the event of a model call."""
    return {
        "step": step,
        "model": completion.model,
        "input_tokens": completion.usage.input_tokens,
        "output_tokens": completion.usage.output_tokens,
        "cost_microusd": completion.usage.cost_microusd,
        "replayed": False,
    }
