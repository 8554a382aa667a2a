"""The planning agent: intent analysis, then a structured plan (MindDR section 3.1)."""

from pydantic import Field

from app.domain.errors import ModelError
from app.domain.plan import ResearchPlan
from app.domain.query import Language, ResearchQuery
from app.domain.run import EventType
from workflows.agents.asking import Asker
from workflows.agents.kit import Kit
from workflows.agents.memory_text import memory_as_text
from workflows.agents.mending import INTENT_CHARS, PlanAnswer, mended
from workflows.agents.ports import BudgetSpent
from workflows.agents.remembering import PLANNER
from workflows.agents.simple_plan import single_subtask_plan
from workflows.agents.steps import Answer, step
from workflows.agents.wishes import with_style
from workflows.agents.wording import say


class IntentAnswer(Answer):
    """The intent of the reader."""

    goal: str = Field(default="", description="what the reader wants to know or decide, in one or two sentences")
    must_cover: tuple[str, ...] = Field(default=(), description="points a complete answer has to cover")
    scope: str = Field(default="", description="limits of time, place, population or kind of source, stated or implied")
    form: str = Field(default="", description="what the answer should look like: comparison, history, recommendation; for whom")
    interpretations: tuple[str, ...] = Field(
        default=(), description="where the question is ambiguous, ways to understand it and the one chosen; else empty"
    )
    key_terms: tuple[str, ...] = Field(default=(), description="names and terms to search for, with synonyms")

    def text(self, language: Language) -> str:
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


INTENT = step("intent", IntentAnswer, max_tokens=1_500)
PLAN = step("plan", PlanAnswer, max_tokens=3_000)


async def make_plan(query: ResearchQuery, kit: Kit) -> ResearchPlan:
    """Analyse the question, then split it. When the model fails, the plan is the question itself and a warning says so."""
    asker = Asker(kit, PLANNER)
    intent = await _intent(query, kit, asker)
    return await _plan(query, intent, kit, asker)


async def _intent(query: ResearchQuery, kit: Kit, asker: Asker) -> str:
    form = kit.codec.form(INTENT, kit.prompts, kit.language)
    messages = kit.prompts.get("intent", kit.language).render(
        today=kit.today.isoformat(), question=query.question, memory=_memory(query, kit), form=form
    )
    try:
        return (await asker.ask(INTENT, messages)).answer.text(kit.language)
    except (ModelError, BudgetSpent) as error:
        await _warn(kit, "intent_failed", error)
        return ""


async def _plan(query: ResearchQuery, intent: str, kit: Kit, asker: Asker) -> ResearchPlan:
    most = kit.bounds.subtasks
    messages = kit.prompts.get("plan", kit.language).render(
        today=kit.today.isoformat(),
        question=query.question,
        intent=intent or say("none", kit.language),
        memory=_memory(query, kit),
        most=str(most),
        tools="\n".join(f"- {tool.name}: {tool.description}" for tool in kit.tools.values()),
        form=kit.codec.form(PLAN, kit.prompts, kit.language),
    )
    try:
        plan = mended((await asker.ask(PLAN, messages)).answer, intent, most)
    except (ModelError, BudgetSpent) as error:
        await _warn(kit, "plan_failed", error)
        return single_subtask_plan(query, intent)
    whole = single_subtask_plan(query, intent)
    if plan is None:
        await _warn(kit, "plan_failed", "-")
        return whole
    return plan if plan.title else plan.model_copy(update={"title": whole.title})


def _memory(query: ResearchQuery, kit: Kit) -> str:
    return memory_as_text(with_style(kit.memory, query, kit.language), kit.language)


async def _warn(kit: Kit, what: str, detail: object) -> None:
    await kit.record.tell(EventType.WARNING, PLANNER, {"message": say(what, kit.language, detail=detail)})
