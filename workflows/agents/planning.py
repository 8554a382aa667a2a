"""The planning agent: intent analysis, then a structured plan (MindDR section 3.1)."""

from pydantic import Field

from app.domain.chat import ToolCall
from app.domain.errors import ModelError
from app.domain.plan import ResearchPlan
from app.domain.query import Language, ResearchQuery
from app.domain.run import EventType
from workflows.agents.asker import Asker
from workflows.agents.failures import describe_failure
from workflows.agents.kit import Kit
from workflows.agents.memory_text import format_memory
from workflows.agents.plan_repair import INTENT_CHARS, PlanAnswer, repair_plan
from workflows.agents.ports import BudgetSpent
from workflows.agents.run_options import add_style_notes
from workflows.agents.simple_plan import make_single_plan
from workflows.agents.stage_memory import PLANNER
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.tool_use import format_tools
from workflows.agents.whole_reading import describe_documents, read_whole
from workflows.agents.wording import say


class IntentAnswer(StepAnswer):
    """The intent of the reader."""

    goal: str = Field(default="", description="what the reader wants to know or decide, in one or two sentences")
    must_cover: tuple[str, ...] = Field(default=(), description="points a complete answer has to cover")
    scope: str = Field(default="", description="limits of time, place, population or kind of source, stated or implied")
    form: str = Field(default="", description="what the answer should look like: comparison, history, recommendation; for whom")
    interpretations: tuple[str, ...] = Field(
        default=(), description="where the question is ambiguous, ways to understand it and the one chosen; else empty"
    )
    key_terms: tuple[str, ...] = Field(default=(), description="names and terms to search for, with synonyms")

    def to_text(self, language: Language) -> str:
        """Return the analysis as the other agents read it, without empty fields."""
        named = {
            "scope": (self.scope,),
            "form": (self.form,),
            "must_cover": self.must_cover,
            "readings": self.interpretations,
            "key_terms": self.key_terms,
        }
        lines = [self.goal.strip()]
        for name, values in named.items():
            given = [v.strip() for v in values if v.strip()]
            lines += [f"{say(name, language)}: {'; '.join(given)}"] if given else []
        return "\n".join(filter(None, lines))[:INTENT_CHARS]


INTENT = declare_step("intent", IntentAnswer, max_tokens=1_500, spare=["scope", "form", "interpretations"])
PLAN = declare_step("plan", PlanAnswer, max_tokens=3_000, spare=["purpose", "expected_evidence", "depends_on"])


async def make_plan(query: ResearchQuery, kit: Kit) -> ResearchPlan:
    """Analyse the question, then split it, unless all there is to search is read whole.

    When the model fails, the plan is the question itself, and says so.
    """
    asker = Asker(kit, PLANNER)
    documents = await _list_whole_documents(kit)
    intent = await _analyse_intent(query, kit, asker, documents)
    if documents:
        return make_single_plan(query, intent)
    sources = await _describe_sources(kit)
    plan = await _ask_plan(query, intent, sources, kit, asker)
    return plan.model_copy(update={"sources": sources})


async def _describe_sources(kit: Kit) -> str:
    """Return what the collections hold that the run searches; empty where there are none or the index cannot say."""
    if kit.shelves is None:
        return ""
    try:
        return (await kit.record.use(PLANNER, kit.shelves, ToolCall(name=kit.shelves.name))).note
    except BudgetSpent:
        return ""


async def _list_whole_documents(kit: Kit) -> str:
    """Return the documents that are read whole, a line each; empty where the run has to search."""
    try:
        passages = await read_whole(kit, PLANNER)
    except BudgetSpent:
        return ""
    return describe_documents(passages, kit.language)


async def _analyse_intent(query: ResearchQuery, kit: Kit, asker: Asker, documents: str) -> str:
    form = kit.codec.describe_form(INTENT, kit.prompts, kit.language)
    memory = "\n\n".join(part for part in (_format_memory(query, kit), documents) if part)
    messages = kit.prompts.get("intent", kit.language).render(
        today=kit.today.isoformat(), question=query.question, memory=memory, form=form
    )
    try:
        return (await asker.ask(INTENT, messages)).answer.to_text(kit.language)
    except (ModelError, BudgetSpent) as error:
        await _warn(kit, "intent_failed", describe_failure(error, kit.language))
        return ""


async def _ask_plan(query: ResearchQuery, intent: str, sources: str, kit: Kit, asker: Asker) -> ResearchPlan:
    most = kit.bounds.subtasks
    messages = kit.prompts.get("plan", kit.language).render(
        today=kit.today.isoformat(),
        question=query.question,
        intent=intent,
        memory=_format_memory(query, kit),
        most=str(most),
        tools=format_tools(kit, sources),
        form=kit.codec.describe_form(PLAN, kit.prompts, kit.language),
    )
    try:
        plan = repair_plan((await asker.ask(PLAN, messages)).answer, intent, most)
        unsplit = "" if plan else say("gave_none", kit.language)
    except (ModelError, BudgetSpent) as error:
        plan, unsplit = None, describe_failure(error, kit.language)
    whole = make_single_plan(query, intent, unsplit)
    if plan is None:
        await _warn(kit, "plan_failed", unsplit)
        return whole
    return plan if plan.title else plan.model_copy(update={"title": whole.title})


def _format_memory(query: ResearchQuery, kit: Kit) -> str:
    return format_memory(add_style_notes(kit.memory, query, kit.language), kit.language)


async def _warn(kit: Kit, what: str, detail: str) -> None:
    await kit.record.tell(EventType.WARNING, PLANNER, {"message": say(what, kit.language, detail=detail)})
