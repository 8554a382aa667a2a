"""The tools of scoring an item: the judge, in the item's language, and the texts of cited pages."""

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

CUT_NOTES = {
    Language.ENGLISH: "(The rest is not shown, for length; do not hold its absence against it.)",
    Language.CHINESE: "（因篇幅所限，其余部分未显示；请勿因此扣分。）",
}


class UsageTally:
    """A record that passes everything on and adds up the usage of its own calls, also of stored answers."""

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

    async def tell(self, event: EventType, agent: str, *payloads: Mapping[str, Any]) -> None:
        """See `Record.tell`."""
        await self._record.tell(event, agent, *payloads)


@dataclass(frozen=True, slots=True)
class Judging:
    """The judge's kit, a reader of the texts of `Answer.pages` by hash, and a reader of an item's turns.

    `writer` is the kit of the model that writes what is judged, such as a rubric. `variant` is the way of scoring. `most_chars`
    is the part of a report that the judge sees; 0: all.
    """

    kit: Kit
    writer: Kit
    page: Callable[[str], str]
    turns: Callable[[str], Sequence[Turn]]
    variant: str = ""
    most_chars: int = 0

    def shorten(self, report: str) -> str:
        """Shorten a report that is too long for the judge at the end of a line, with a note that says so."""
        if not self.most_chars or len(report) <= self.most_chars:
            return report
        kept = report[: self.most_chars]
        kept = kept[: max(kept.rfind("\n"), self.most_chars // 2)].rstrip()
        return f"{kept}\n\n{CUT_NOTES[self.kit.language]}"

    def for_item(self, language: Language) -> tuple["Judging", UsageTally]:
        """Return a copy for one item, with the tally of what judging it costs."""
        tally = UsageTally(self.kit.record)
        kit, writer = (replace(kit, record=tally, language=language) for kit in (self.kit, self.writer))
        return replace(self, kit=kit, writer=writer), tally
