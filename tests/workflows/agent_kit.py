"""Puts together everything that an agent needs, for tests."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from app.domain.budget import AgentLimits
from app.domain.chat import ChatRequest
from app.domain.query import Language, ResearchQuery
from app.domain.report import Report
from app.domain.trajectory import Turn
from tests.workflows.small_corpus import SmallCorpus
from workflows.agents.codec import SchemaCodec, StepCodec
from workflows.agents.kit import Bounds, Kit
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.agents.ports import ChatModel
from workflows.prompts.library import PromptLibrary
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import ToolCorpora, build_toolbox

PROMPTS = PromptLibrary.load()
TODAY = date(2026, 3, 1)


def make_kit(
    chat: ChatModel,
    record: LocalRecord,
    corpus: SmallCorpus | None = None,
    *,
    codec: StepCodec | None = None,
    limits: AgentLimits | None = None,
    bounds: Bounds | None = None,
    corpora: ToolCorpora | None = None,
    language: Language = Language.ENGLISH,
) -> Kit:
    corpus = corpus or SmallCorpus()
    return Kit(
        chat=chat,
        tools=build_toolbox(corpus, corpus, corpora or ToolCorpora(), ToolMemory(DictToolStore())),
        record=record,
        prompts=PROMPTS,
        codec=codec or SchemaCodec(),
        today=TODAY,
        clock=lambda: 0.0,
        limits=limits or AgentLimits(max_turns=4),
        bounds=bounds or Bounds(),
        language=language,
    )


async def run_chain(kit: Kit, record: LocalRecord, question: str, steering: PlanSteering | None = None, **options: Any) -> Report:
    query = ResearchQuery(question=question, language=kit.language, **options)
    return await research(query, LocalStages(MODEL_DRIVEN, kit, record, query), steering or PlanSteering())


def make_record(turns: Iterable[Turn] = ()) -> LocalRecord:
    return LocalRecord("test", turns)


def step_of(request: ChatRequest) -> str:
    return request.response_schema.name if request.response_schema else "text"
