"""Limiting a run to its scope: its dates and domains hold for the results of every tool."""

from collections.abc import Mapping
from typing import Any

from app.domain.chat import ToolResult
from app.domain.errors import ToolError
from app.domain.evidence import Source
from app.domain.options import SearchScope
from retrieval.ports import DatedSearcher, OutsideResult, OutsideSearcher
from workflows.agents.ports import Tool
from workflows.tools.search import MOST_OUTSIDE_CHARS
from workflows.tools.wrapped import WrappedTool

MOST_SITES = 5
MOST_OPERATOR_CHARS = 300
"""The rest of what services take is for the question."""
READING_TOOL = "browse"


class ScopedTool(WrappedTool):
    """A tool whose results outside the scope are removed before anyone sees them; `note` says how many."""

    def __init__(self, tool: Tool, scope: SearchScope) -> None:
        super().__init__(tool)
        self._scope = scope

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        """Use the tool within the scope.

        Raises:
            ToolError: the call failed, or the address is of a domain that the run may not read.
        """
        url = arguments.get("url")
        if isinstance(url, str) and not self._scope.holds_address(url):
            raise ToolError("this run may not read pages of this domain")
        result = await self._tool.call(arguments)
        kept = tuple(passage for passage in result.passages if self._is_in_scope(passage.source))
        left_out = len(result.passages) - len(kept)
        if not left_out:
            return result
        told = f"{left_out} passages were left out: they are outside the dates or domains of this run"
        return result.model_copy(update={"passages": kept, "note": "; ".join(filter(None, (result.note, told)))})

    def _is_in_scope(self, source: Source) -> bool:
        """Say whether a source is in scope. A page without a date may be read, because a search result with a date led to it."""
        undated_page = self.name == READING_TOOL and source.published is None
        return self._scope.holds_address(source.url) and (undated_page or self._scope.holds_day(source.published))


def limit_to_dates(outside: OutsideSearcher | None, scope: SearchScope) -> OutsideSearcher | None:
    """Return the search limited to the run's dates if it can be. Each result's own date is checked in any case."""
    if not isinstance(outside, DatedSearcher) or not (scope.published_from or scope.published_to):
        return outside
    return outside.between(scope.published_from, scope.published_to)


class DomainSearcher:
    """A search of the web that asks only for the run's domains, so that others do not use up its few results."""

    def __init__(self, outside: OutsideSearcher, scope: SearchScope) -> None:
        self._outside = outside
        allowed, refused = scope.domains_allowed, scope.domains_refused
        wanted = " OR ".join(f"site:{domain}" for domain in allowed) if len(allowed) <= MOST_SITES else ""
        unwanted = " ".join(f"-site:{domain}" for domain in refused[:MOST_SITES])
        choices = (f"{wanted} {unwanted}".strip(), wanted, "")
        self._operators = next(said for said in choices if len(said) <= MOST_OPERATOR_CHARS)

    async def search(self, text: str, limit: int) -> OutsideResult:
        """Search within the run's domains; see `OutsideSearcher.search`.

        Services cut a long query at its end, or refuse it, so the domains stand first.
        """
        return await self._outside.search(f"{self._operators} {text}".strip()[:MOST_OUTSIDE_CHARS], limit)
