"""Collections that fit into what a writer reads at once are read whole: no split into parts, no search."""

from app.domain.budget import StopReason, Usage
from app.domain.chat import ToolCall
from app.domain.evidence import Finding, Passage
from app.domain.plan import Subtask
from workflows.agents.kit import Kit


async def read_whole(kit: Kit, agent: str) -> tuple[Passage, ...]:
    """Return all passages of the run's collections; none where they are too long, or the run searches elsewhere too.

    Raises:
        BudgetSpent: from the record.
    """
    if kit.whole is None:
        return ()
    return (await kit.record.use(agent, kit.whole, ToolCall(name=kit.whole.name))).passages


def make_whole_finding(subtask: Subtask, passages: tuple[Passage, ...]) -> Finding:
    """Return the finding of a part for which everything was read."""
    return Finding(subtask_id=subtask.id, passages=passages, stop=StopReason.SUFFICIENT, usage=Usage(tool_calls=1))
