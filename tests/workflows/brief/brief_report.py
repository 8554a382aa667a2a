"""Runs the chain without a model in this process, with nothing but an index."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from app.domain.plan import Subtask
from app.domain.query import ResearchQuery, detect_language
from app.domain.report import Report
from retrieval.search.in_process import LocalSearcher
from workflows.agents.brief import BRIEF
from workflows.agents.codec import SchemaCodec
from workflows.agents.effort import LIMITS, bounds_of
from workflows.agents.kit import Kit
from workflows.chat_models.absent import AbsentModel
from workflows.prompts.library import PromptLibrary
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import ToolCorpora, build_toolbox


async def write_report_on(
    question: str, searcher: LocalSearcher, collections: tuple[str, ...] = (), added: Sequence[Subtask] = (), **options: Any
) -> Report:
    """Write the report on a question over these collections (the default one if none). A reader adds `added` to the plan."""
    query = ResearchQuery(question=question, language=detect_language(question), **options)
    record = LocalRecord("test")
    kit = Kit(
        chat=AbsentModel(),
        tools=build_toolbox(searcher, searcher, ToolCorpora(collections), ToolMemory(DictToolStore()), scope=query.scope),
        record=record,
        prompts=PromptLibrary.load(),
        codec=SchemaCodec(),
        today=date(2026, 1, 1),
        clock=lambda: 0.0,
        limits=LIMITS[query.effort],
        bounds=bounds_of(query),
        language=query.language,
    )
    stages, steering = LocalStages(BRIEF, kit, record, query), PlanSteering()
    if added:
        steering.begin(await stages.plan(query))
        for subtask in added:
            steering.add(subtask)
    return await research(query, stages, steering)
