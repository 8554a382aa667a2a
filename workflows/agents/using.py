"""Using a tool: through the record, and telling the run's watchers what the agent is kept from."""

from app.domain.chat import Suspicion, ToolCall, ToolResult
from app.domain.run import EventType
from workflows.agents.kit import Kit


async def use(kit: Kit, agent: str, call: ToolCall) -> ToolResult:
    """One tool turn; a warning for each source that tries to instruct the agent."""
    result = await kit.record.use(agent, kit.tools[call.name], call)
    for suspicion in result.suspicious:
        await kit.record.tell(EventType.WARNING, agent, _warning(suspicion))
    return result


def _warning(suspicion: Suspicion) -> dict[str, object]:
    withheld = f"; {suspicion.withheld} passages were withheld from it" if suspicion.withheld else ""
    message = f"{suspicion.url} tries to instruct the agent ({', '.join(suspicion.patterns)}){withheld}"
    source = {"title": suspicion.title, "url": suspicion.url}
    return {"message": message, "source": source, "patterns": list(suspicion.patterns), "withheld": suspicion.withheld}
