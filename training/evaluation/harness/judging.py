"""What scoring an item may touch: the judge, in the item's language, and the texts of cited pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, Completion, ToolCall, ToolResult
from app.domain.query import Language
from app.domain.run import EventType
from app.domain.trajectory import Turn
from workflows.agents.kit import Kit
from workflows.agents.ports import ChatModel, Record, Tool


class Tally:
    """A record that passes everything on and adds up what its own calls cost, kept answers included."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self.usage = Usage()

    async def ask(self, agent: str, step: str, model: ChatModel, request: ChatRequest) -> Completion:
        """See `Record.ask`."""
        answer = await self._record.ask(agent, step, model, request)
        self.usage += answer.usage
        return answer

    async def use(self, agent: str, tool: Tool, call: ToolCall) -> ToolResult:
        """See `Record.use`."""
        return await self._record.use(agent, tool, call)

    async def tell(self, event: EventType, agent: str, payload: Mapping[str, Any]) -> None:
        """See `Record.tell`."""
        await self._record.tell(event, agent, payload)


@dataclass(frozen=True, slots=True)
class Judging:
    """The judge's kit, the text kept under a hash of `Answer.pages`, and what a system did for an item.

    `variant` is how the benchmark is to be scored.
    """

    kit: Kit
    page: Callable[[str], str]
    turns: Callable[[str], Sequence[Turn]]
    variant: str = ""

    def of_item(self, language: Language) -> tuple["Judging", Tally]:
        """The same for one item, with the tally of what judging it costs."""
        tally = Tally(self.kit.record)
        return replace(self, kit=replace(self.kit, record=tally, language=language)), tally
