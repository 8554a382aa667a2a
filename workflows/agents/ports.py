"""The three interfaces of an agent to the world: a model, tools, and a record of its turns."""

from collections.abc import Mapping
from typing import Any, Protocol

from app.domain.budget import StopReason
from app.domain.chat import ChatRequest, Completion, ToolCall, ToolResult
from app.domain.run import EventType


class ChatModel(Protocol):
    """A language model. It never retries: waiting is the task of the record that asks.

    Raises:
        ModelUnavailable: outage, time-out or rate limit; worth waiting for.
        ModelRefused: the request will never be answered.
    """

    @property
    def name(self) -> str:
        """The model's name, part of every request's digest."""
        ...

    async def complete(self, request: ChatRequest) -> Completion:
        """Return one answer to one request, with its tokens and cost."""
        ...


class Tool(Protocol):
    """A tool that an agent may call. Arguments follow `parameters`, a JSON schema.

    Raises:
        ToolError: the call failed for good; its message is for the agent.
    """

    @property
    def name(self) -> str:
        """The name by which agents call it."""
        ...

    @property
    def description(self) -> str:
        """One sentence for the prompt."""
        ...

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON schema of its arguments."""
        ...

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Use the tool once."""
        ...


class BudgetSpent(Exception):
    """No further turn is allowed; the stage should finish with what it has. The agent turns this error into a value."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Record(Protocol):
    """An agent's record: it answers from a stored turn, or makes the call and stores it before it returns.

    When an agent runs again over the same record, stored turns are replayed and the agent continues after them; no model or
    search call that was answered is repeated. `agent` is the agent's path; the record counts the ordinal.

    Raises:
        BudgetSpent: when no further turn is allowed and the stage is to finish with what it has.
        ModelRefused: passed on from the model. Outages are waited out here, never shown to the agent.
    """

    async def ask(self, agent: str, step: str, model: ChatModel, request: ChatRequest) -> Completion:
        """Take one model turn."""
        ...

    async def use(self, agent: str, tool: Tool, call: ToolCall) -> ToolResult:
        """Take one tool turn. A `ToolError` becomes a `ToolResult` with `error`, stored like any other."""
        ...

    async def tell(self, event: EventType, agent: str, *payloads: Mapping[str, Any]) -> None:
        """Add a line for each payload to the run's event log, for its watchers."""
        ...
