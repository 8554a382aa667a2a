"""Tools that search the index and the world outside together."""

from collections.abc import Sequence

import pytest

from app.domain.errors import ToolError, ToolUnavailable
from app.domain.evidence import Passage, Source, snapshot_hash
from retrieval.ports import OutsideResult, SearchFilter
from tests.workflows.small_corpus import SmallCorpus
from workflows.tools.search import KEPT_INSIDE, SearchTool
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import OutsideTools, ToolCorpora, build_toolbox


def snippet(number: int) -> Passage:
    text = f"Snippet number {number}."
    source = Source(url=f"https://web.example/{number}", title="Web", snapshot=snapshot_hash(text))
    return Passage(source=source, text=text, start=0, end=len(text))


class Web:
    """A search outside that finds what it is given, or fails with it."""

    def __init__(self, found: Sequence[Passage] | Exception) -> None:
        self.found = found

    async def search(self, text: str, limit: int) -> OutsideResult:
        if isinstance(self.found, Exception):
            raise self.found
        return OutsideResult(tuple(self.found[:limit]), "web: test")


class Away(SmallCorpus):
    """An index that fails."""

    def __init__(self, error: ToolError) -> None:
        super().__init__()
        self.error = error

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        raise self.error


async def test_both_lists_are_merged_in_turn_and_always_alike() -> None:
    tool = SearchTool(SmallCorpus(), SearchFilter(), 3, Web([snippet(1), snippet(2), snippet(1)]))
    result = await tool.call({"query": "tariff laws"})
    hosts = [passage.source.url.split("/")[2] for passage in result.passages]
    assert hosts == ["example.org", "web.example", "example.org", "web.example", "example.org"]
    assert result.note == "web: test"
    assert await tool.call({"query": "tariff laws"}) == result


async def test_one_side_that_fails_is_told_and_the_other_stands() -> None:
    broken = SearchTool(SmallCorpus(), SearchFilter(), 3, Web(ToolError("the search (web) failed: no key")))
    result = await broken.call({"query": "tariff laws"})
    assert len(result.passages) == 3
    assert result.note == "the search (web) failed: no key"
    outside_only = SearchTool(Away(ToolError("the index is empty")), SearchFilter(), 3, Web([snippet(1)]))
    assert (await outside_only.call({"query": "x"})).note == "web: test; the index is empty"


async def test_both_failing_is_a_failure_and_an_outage_is_waited_out() -> None:
    with pytest.raises(ToolError, match="the index is empty"):
        await SearchTool(Away(ToolError("the index is empty")), SearchFilter(), 3, Web(ToolError("no web"))).call({"query": "x"})
    with pytest.raises(ToolUnavailable):
        await SearchTool(Away(ToolUnavailable("restarting")), SearchFilter(), 3, Web([snippet(1)])).call({"query": "x"})


async def test_scholar_appears_with_papers_outside_and_does_not_search_the_general_index() -> None:
    corpus, memory = SmallCorpus(), ToolMemory(DictToolStore())
    assert "scholar" not in build_toolbox(corpus, corpus, ToolCorpora(), memory)
    tools = build_toolbox(corpus, corpus, ToolCorpora(), memory, outside=OutsideTools(papers=Web([snippet(7)])))
    result = await tools["scholar"].call({"query": "tariff"})
    assert [passage.source.url for passage in result.passages] == ["https://web.example/7"]
    assert corpus.queries == []


async def test_a_query_that_is_kept_inside_is_told_to_no_service() -> None:
    corpus, away = SmallCorpus(), Web(ToolError("a service was asked"))
    result = await SearchTool(corpus, SearchFilter(), 3, away).call({"query": "tariff laws", "inside": True})
    assert (len(result.passages), result.note) == (3, KEPT_INSIDE)
    with pytest.raises(ToolError, match=KEPT_INSIDE):
        await SearchTool(None, (), 3, away).call({"query": "tariff laws", "inside": True})
    assert (await SearchTool(corpus, SearchFilter(), 3).call({"query": "tariff laws", "inside": True})).note == ""
