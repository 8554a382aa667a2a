"""The set of tools of one run."""

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.ports import OutsideSearcher, PageReader, Searcher, SearchFilter
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


def corpora_of(asked: Sequence[str], scientific: Sequence[str]) -> Corpora:
    """The collections a run asks for, none for the default one, dealt out to the tools by those that hold papers.

    A run that asks for none gets all scientific ones beside the default; one that asks for papers alone searches them with both.
    """
    if not asked:
        return Corpora(scientific=tuple(scientific))
    papers = tuple(name for name in asked if name in scientific)
    others = tuple(name for name in asked if name not in scientific)
    return Corpora(others or papers, papers)


@dataclass(frozen=True, slots=True)
class Beyond:
    """What the tools may use outside the index: searches of the web and of papers, and further tools as they are."""

    web: OutsideSearcher | None = None
    papers: OutsideSearcher | None = None
    tools: Sequence[Tool] = ()


NOTHING_BEYOND = Beyond()


def build_toolbox(
    searcher: Searcher,
    reader: PageReader,
    corpora: Corpora,
    memory: ToolMemory,
    passages_per_query: int = 6,
    beyond: Beyond = NOTHING_BEYOND,
) -> dict[str, Tool]:
    """`search`, `browse`, `scholar` where papers can be searched, and what lies beyond; all share the run's tool memory."""
    general, scientific = SearchFilter(collections=corpora.general), SearchFilter(collections=corpora.scientific)
    tools: list[Tool] = [SearchTool(searcher, general, passages_per_query, beyond.web)]
    if corpora.scientific or beyond.papers:
        tools.append(ScholarTool(searcher if corpora.scientific else None, scientific, passages_per_query, beyond.papers))
    tools += [BrowseTool(reader), *beyond.tools]
    return {tool.name: Remembered(tool, memory) for tool in tools}
