"""The set of tools of one run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.options import SearchScope, SourceKind
from app.domain.query import Language, ResearchQuery
from retrieval.ports import Describer, OutsideSearcher, PageReader, Searcher, SearchFilter, WholeReader
from workflows.agents.ports import Tool
from workflows.tools.browse import BrowseTool
from workflows.tools.described import DescribeTool
from workflows.tools.scoped import DomainSearcher, ScopedTool, limit_to_dates
from workflows.tools.search import ScholarTool, SearchTool
from workflows.tools.tool_memory import RememberedTool, ToolMemory
from workflows.tools.whole import WholeTool

WHOLE_SCOPE = SearchScope()
PASSAGES_A_QUERY = 6


@dataclass(frozen=True, slots=True)
class ToolCorpora:
    """The collections that each tool searches. Without a scientific one there is no `scholar`; empty `general` is the default.

    With `beside` the default collection is searched besides `general`; without `indexed`, `search` has no collection at all.
    """

    general: tuple[str, ...] = ()
    scientific: tuple[str, ...] = ()
    beside: bool = False
    indexed: bool = True


def corpora_of(asked: Sequence[str], scientific: Sequence[str], own: bool, scope: SearchScope = WHOLE_SCOPE) -> ToolCorpora:
    """Assign the collections that a run asks for to the tools: those with papers go to `scholar`, the others to `search`.

    A run that searches the installation's `own` corpora gets the default collection and all scientific ones as well. A run that
    asks only for papers searches them with both tools.
    """
    named = tuple(name for name in asked if name in scientific)
    others = tuple(name for name in asked if name not in scientific)
    papers = tuple(dict.fromkeys((*named, *(scientific if own else ()))))
    general = others or (() if own else named)
    scholarly = papers if scope.searches(SourceKind.SCHOLAR) else ()
    return ToolCorpora(general, scholarly, beside=own and bool(general), indexed=own or bool(general))


def corpora_of_query(query: ResearchQuery, scientific: Sequence[str]) -> ToolCorpora:
    """Assign the collections of a run to the tools."""
    return corpora_of(query.searched or query.collections, scientific, query.searches_corpora, query.scope or WHOLE_SCOPE)


@dataclass(frozen=True, slots=True)
class OutsideTools:
    """The parts outside the index that tools may use: searches of the web and of papers, and further tools.

    `writing` are those further tools that may change something, by the names by which an asker agrees to them.
    """

    web: OutsideSearcher | None = None
    papers: OutsideSearcher | None = None
    tools: Sequence[Tool] = ()
    writing: Mapping[str, Tool] = field(default_factory=dict)

    def limit_to_scope(self, scope: SearchScope) -> "OutsideTools":
        """Return the part that a run of this scope may use. A further tool may reach anything, so it counts as the web.

        One that may write is only there if the scope names it.
        """
        web_is_on = scope.searches(SourceKind.WEB)
        web, papers = (
            limit_to_dates(self.web, scope),
            limit_to_dates(self.papers, scope) if scope.searches(SourceKind.SCHOLAR) else None,
        )
        sited = DomainSearcher(web, scope) if web and (scope.domains_allowed or scope.domains_refused) else web
        agreed = [self.writing[name] for name in scope.tools_that_write if name in self.writing]
        return OutsideTools(sited if web_is_on else None, papers, [*self.tools, *agreed] if web_is_on else ())


NO_OUTSIDE_TOOLS = OutsideTools()


def build_toolbox(
    searcher: Searcher,
    reader: PageReader,
    corpora: ToolCorpora,
    memory: ToolMemory,
    outside: OutsideTools = NO_OUTSIDE_TOOLS,
    scope: SearchScope | None = None,
    withholds: bool = True,
) -> dict[str, Tool]:
    """Build `search`, `browse`, `scholar` if papers can be searched, and further tools; all share the run's tool memory.

    Where no model reads what is found, nothing needs to be withheld of it: that is a mistake more often than an attack.
    """
    outside = outside.limit_to_scope(scope or WHOLE_SCOPE)
    general = [_make_filter(corpora.general, scope)] if corpora.indexed else []
    general += [_make_filter((), scope)] if corpora.beside else []
    papers = bool(corpora.scientific or outside.papers)
    tools: list[Tool] = []
    if general or outside.web or not papers:
        tools.append(SearchTool(searcher if general else None, general, PASSAGES_A_QUERY, outside.web, withholds))
    if papers:
        scientific = [_make_filter(corpora.scientific, scope)] if corpora.scientific else []
        tools.append(ScholarTool(searcher if scientific else None, scientific, PASSAGES_A_QUERY, outside.papers, withholds))
    tools += [BrowseTool(reader), *outside.tools]
    scoped = [ScopedTool(tool, scope) for tool in tools] if scope else tools
    return {tool.name: RememberedTool(tool, memory) for tool in scoped}


def build_whole_reader(
    reader: WholeReader,
    corpora: ToolCorpora,
    memory: ToolMemory,
    most_chars: int,
    outside: OutsideTools = NO_OUTSIDE_TOOLS,
    scope: SearchScope | None = None,
) -> Tool | None:
    """Build the tool that reads the run's collections whole; None for a run that may search anything else too."""
    outside = outside.limit_to_scope(scope or WHOLE_SCOPE)
    elsewhere = corpora.beside or not corpora.general or outside.web or outside.papers or outside.tools
    if elsewhere:
        return None
    names = tuple(dict.fromkeys((*corpora.general, *corpora.scientific)))
    return RememberedTool(WholeTool(reader, _make_filter(names, scope), most_chars), memory)


def build_describer(
    describer: Describer,
    corpora: ToolCorpora,
    memory: ToolMemory,
    language: Language,
    outside: OutsideTools = NO_OUTSIDE_TOOLS,
    scope: SearchScope | None = None,
) -> Tool | None:
    """Build the tool that describes the run's collections; None for a run without any. Titles stay inside."""
    outside = outside.limit_to_scope(scope or WHOLE_SCOPE)
    names = tuple(dict.fromkeys((*corpora.general, *corpora.scientific)))
    default = corpora.beside or (corpora.indexed and not corpora.general)
    where = [_make_filter(each, scope) for each in [names] * bool(names) + [()] * default]
    titled = not (outside.web or outside.papers or outside.tools)
    return RememberedTool(DescribeTool(describer, where, language, titled), memory) if where else None


def _make_filter(collections: tuple[str, ...], scope: SearchScope | None) -> SearchFilter:
    dates = {"published_from": scope.published_from, "published_to": scope.published_to} if scope else {}
    return SearchFilter(collections=collections, **dates)
