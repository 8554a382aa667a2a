"""Using a tool through the record, with warnings to the run's watchers about suspicious sources."""

from app.domain.chat import Suspicion, ToolCall, ToolResult
from app.domain.run import EventType
from workflows.agents.kit import Kit


def format_tools(kit: Kit, sources: str = "") -> str:
    """Return the tools as a prompt lists them, and under them what the collections hold that they search."""
    return "\n".join([*(f"- {tool.name}: {tool.description}" for tool in kit.tools.values()), *filter(None, [sources])])


async def use_tool(kit: Kit, agent: str, call: ToolCall) -> ToolResult:
    """Take one tool turn and warn of each source that tries to instruct the agent."""
    result = await kit.record.use(agent, kit.tools[call.name], call)
    for suspicion in result.suspicious:
        await kit.record.tell(EventType.WARNING, agent, _warning_of(suspicion))
    return result


def _warning_of(suspicion: Suspicion) -> dict[str, object]:
    withheld = f"; {suspicion.withheld} passages were withheld from it" if suspicion.withheld else ""
    message = f"{suspicion.url} tries to instruct the agent ({', '.join(suspicion.patterns)}){withheld}"
    source = {"title": suspicion.title, "url": suspicion.url}
    return {"message": message, "source": source, "patterns": list(suspicion.patterns), "withheld": suspicion.withheld}
