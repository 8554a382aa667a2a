"""Collections that fit into what a writer reads at once are read whole: no split into parts, no search."""

from collections.abc import Sequence

from app.domain.budget import StopReason, Usage
from app.domain.chat import ToolCall
from app.domain.evidence import Finding, Passage
from app.domain.plan import Subtask
from app.domain.query import Language
from workflows.agents.kit import Kit
from workflows.agents.untrusted import as_attribute
from workflows.agents.wording import say

BEGINNING_CHARS = 160


async def read_whole(kit: Kit, agent: str) -> tuple[Passage, ...]:
    """Return all passages of the run's collections; none where they are too long, or the run searches elsewhere too.

    Raises:
        BudgetSpent: from the record.
    """
    if kit.whole is None:
        return ()
    return (await kit.record.use(agent, kit.whole, ToolCall(name=kit.whole.name))).passages


def describe_documents(passages: Sequence[Passage], language: Language) -> str:
    """Return title, date and beginning of each document, as the planner reads them; empty without any."""
    first = {passage.source.snapshot: passage for passage in reversed(passages)}
    lines = [f"- {_describe(first[name])}" for name in dict.fromkeys(passage.source.snapshot for passage in passages)]
    return "\n".join([f"{say('read_whole', language)}:", *lines]) if lines else ""


def _describe(passage: Passage) -> str:
    source = passage.source
    date = f", {source.published.isoformat()}" if source.published else ""
    return f"{as_attribute(source.title)}{date}: {as_attribute(passage.text, BEGINNING_CHARS)}"


def make_whole_finding(subtask: Subtask, passages: tuple[Passage, ...]) -> Finding:
    """Return the finding of a part for which everything was read."""
    return Finding(subtask_id=subtask.id, passages=passages, stop=StopReason.SUFFICIENT, usage=Usage(tool_calls=1))
