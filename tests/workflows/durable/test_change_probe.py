"""What a schedule looks up again: the calls that brought something. What was refused in the first run says nothing today."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

from app.domain.chat import ToolCall, ToolResult
from app.domain.evidence import Passage
from app.domain.options import SearchScope
from app.domain.query import ResearchQuery
from app.domain.trajectory import Turn, TurnKind
from tests.workflows.durable.toys import SOURCE, TEXT, ToyTool, make_toy_plan
from tests.workflows.small_corpus import SmallCorpus
from workflows.durable.change_probe import make_probe_tools, probe_changes
from workflows.durable.workshop import Workshop
from workflows.tools.toolbox import OutsideTools

FOUND = ToolResult(passages=(Passage(source=SOURCE, text=TEXT[:40], start=0, end=40),))
REFUSED = ToolResult(error="a bad query")


class SameTool(ToyTool):
    """A tool that finds the same again."""

    async def call(self, arguments: Mapping[str, Any]) -> ToolResult:
        return FOUND


def turn(stage: str, ordinal: int, query: str, result: ToolResult) -> tuple[str, Turn]:
    call = ToolCall(name="search", arguments={"query": query})
    return stage, Turn(agent=stage, ordinal=ordinal, kind=TurnKind.TOOL, step="", digest="", call=call, result=result)


async def test_a_call_that_was_refused_in_the_first_run_is_not_made_again() -> None:
    tool = ToyTool()
    record = [turn("search/s1", 0, "bad", REFUSED), turn("search/s1", 1, "good", ToolResult())]
    probe = await probe_changes(make_toy_plan(1), record, {"search": tool})
    assert (probe.changed, tool.called) == (frozenset(), ["{'query': 'good'}"])


async def test_a_call_that_was_refused_and_then_answered_is_compared_with_its_answer_alone() -> None:
    record = [turn("search/s1", 0, "good", REFUSED), turn("search/s1", 1, "good", FOUND)]
    probe = await probe_changes(make_toy_plan(1), record, {"search": SameTool()})
    assert probe.changed == frozenset()


async def test_a_subtask_for_which_every_call_was_refused_is_researched_again() -> None:
    record = [turn("search/s1", 0, "good", ToolResult()), turn("search/s2", 0, "bad", REFUSED)]
    probe = await probe_changes(make_toy_plan(2), record, {"search": ToyTool()})
    assert probe.changed == {"s2"}


def test_a_probe_has_no_tool_that_writes_although_the_asker_agreed_to_it_for_runs() -> None:
    order, forecast = ToyTool(), ToyTool()
    order.name, forecast.name = "mcp_shop_order", "mcp_shop_forecast"
    outside = OutsideTools(tools=(forecast,), writing={"shop.order": order})
    corpus = SmallCorpus()
    parts = {"view_index": lambda _: corpus, "make_reader": lambda *_: corpus, "scientific": (), "asks_a_model": True}
    shop = cast("Workshop", SimpleNamespace(outside_tools=outside, **parts))
    query = ResearchQuery(question="Why?", scope=SearchScope(tools_that_write=("shop.order",)))
    assert outside.limit_to_scope(query.scope or SearchScope()).tools == [forecast, order]
    assert set(make_probe_tools(shop, query)) == {"search", "browse", "mcp_shop_forecast"}
