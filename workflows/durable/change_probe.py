"""Checking whether anything changed: every search and page of a report is looked up again and compared with its old result.

No model is asked. Two results are the same when the same words come from the same addresses, in any order.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from app.domain.chat import ToolCall, ToolResult
from app.domain.errors import ToolError
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.tool_key import call_key_of, normalise_text
from app.domain.trajectory import Turn
from workflows.agents.ports import Tool
from workflows.agents.stage_memory import path_of_search
from workflows.durable.workshop import Workshop
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import build_toolbox, corpora_of_query

AT_ONCE = 8
READING_TOOL = "browse"


class ChangeProbe(NamedTuple):
    """The subtasks to research again, and today's results of all calls, by their keys."""

    changed: frozenset[str]
    results: Mapping[str, ToolResult]


def make_probe_tools(shop: Workshop, query: ResearchQuery) -> dict[str, Tool]:
    """Return the tools for a probe of this query's report. None of them writes, whatever the asker agreed to for runs."""
    index = shop.view_index(query)
    return build_toolbox(
        index,
        shop.make_reader(query.scope, index),
        corpora_of_query(query, shop.scientific),
        ToolMemory(DictToolStore()),
        outside=shop.outside_tools,
        scope=query.without_writing().scope,
        withholds=shop.asks_a_model,
    )


async def probe_changes(plan: ResearchPlan, record: Sequence[tuple[str, Turn]], tools: Mapping[str, Tool]) -> ChangeProbe:
    """Repeat the calls of these turns, each given with its stage, and return the changed subtasks.

    A subtask whose calls bring another result has changed, and so have all that depend on it. A page that cannot be read any more
    is a change; a search that fails is no change but an error, because its result is unknown. Calls that failed in the run itself
    brought no evidence, and are not repeated.

    Raises:
        ToolError: a search failed.
    """
    answered = [(stage, turn) for stage, turn in record if turn.result is not None and not turn.result.error]
    calls = {call_key_of(c.name, c.arguments): c for _, turn in answered if (c := turn.call) and c.name in tools}
    gate = asyncio.Semaphore(AT_ONCE)
    found = await asyncio.gather(*(_call_again(call, tools[call.name], gate) for call in calls.values()))
    results = dict(zip(calls, found, strict=True))
    looked = {stage for stage, _ in answered}
    stale = {stage for stage, turn in answered if _has_changed(turn, results)}
    # A subtask without stored results cannot be compared, so it is done again.
    first = {s.id for s in plan.subtasks if path_of_search(s.id) in stale or path_of_search(s.id) not in looked}
    changed = frozenset(s.id for s in plan.subtasks if first & {s.id, *plan.ancestors_of(s.id)})
    return ChangeProbe(changed, {key: result for key, result in results.items() if not result.error})


async def _call_again(call: ToolCall, tool: Tool, gate: asyncio.Semaphore) -> ToolResult:
    async with gate:
        try:
            return await tool.call(call.arguments)
        except ToolError as error:
            if call.name != READING_TOOL:
                raise
            return ToolResult(error=str(error))


def _has_changed(turn: Turn, results: Mapping[str, ToolResult]) -> bool:
    if turn.call is None:
        return False
    now = results.get(call_key_of(turn.call.name, turn.call.arguments))
    return now is not None and turn.result is not None and _passages_of(now) != _passages_of(turn.result)


def _passages_of(result: ToolResult) -> frozenset[tuple[str, str]]:
    return frozenset((passage.source.url, normalise_text(passage.text)) for passage in result.passages)
