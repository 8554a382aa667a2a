"""The set of tools of one run."""

from dataclasses import dataclass

from retrieval.ports import PageReader, Searcher, SearchFilter
from workflows.agents.ports import Tool
from workflows.tools.browse import BrowseTool
from workflows.tools.scholar import ScholarTool
from workflows.tools.search import SearchTool
from workflows.tools.tool_memory import Remembered, ToolMemory


@dataclass(frozen=True, slots=True)
class Corpora:
    """Which collections each tool searches; no scientific collection, no `scholar`. Empty `general`: the default one."""

    general: tuple[str, ...] = ()
    scientific: tuple[str, ...] = ()


def build_toolbox(
    searcher: Searcher, reader: PageReader, corpora: Corpora, memory: ToolMemory, passages_per_query: int = 6
) -> dict[str, Tool]:
    """`search`, `browse` and, with a scientific collection, `scholar`; all share the run's tool memory."""
    tools: list[Tool] = [SearchTool(searcher, SearchFilter(collections=corpora.general), passages_per_query)]
    if corpora.scientific:
        tools.append(ScholarTool(searcher, SearchFilter(collections=corpora.scientific), passages_per_query))
    tools.append(BrowseTool(reader))
    return {tool.name: Remembered(tool, memory) for tool in tools}
