"""The planning agent: intent analysis, then a structured plan (MindDR section 3.1)."""

from collections.abc import Sequence
from datetime import date

from pydantic import Field

from app.domain.chat import ToolCall
from app.domain.errors import ModelError
from app.domain.plan import ReaderWants, ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.run import EventType
from app.domain.safe_text import make_safe
from workflows.agents.asker import Asker
from workflows.agents.failures import describe_failure
from workflows.agents.kit import Kit
from workflows.agents.memory_text import format_memory
from workflows.agents.plan_repair import PlanAnswer, repair_plan
from workflows.agents.ports import BudgetSpent
from workflows.agents.reader_wants import tell_all
from workflows.agents.run_options import add_style_notes
from workflows.agents.simple_plan import UNSPLIT_CHARS, make_single_plan
from workflows.agents.stage_memory import PLANNER
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.tool_use import format_tools
from workflows.agents.whole_reading import describe_documents, read_whole
from workflows.agents.wording import say

INTENT_CHARS = SOURCES_CHARS = 8_000
FIELD_CHARS = 1_000


class IntentAnswer(StepAnswer):
    """The intent of the reader."""

    goal: str = Field(default="", description="what the reader wants to know or decide, in one or two sentences")
    must_cover: tuple[str, ...] = Field(default=(), description="points a complete answer has to cover")
    scope: str = Field(default="", description="limits of time, place, population or kind of source, stated or implied")
    form: str = Field(default="", description="what the answer should look like: comparison, history, recommendation")
    audience: str = Field(default="", description="for whom, where the question says it; else empty")
    length: str = Field(default="", description="the length that the question states; else empty")
    interpretations: tuple[str, ...] = Field(
        default=(), description="where the question is ambiguous, ways to understand it and the one chosen; else empty"
    )
    key_terms: tuple[str, ...] = Field(default=(), description="names and terms to search for, with synonyms")
    published_from: str = Field(
        default="",
        description="YYYY-MM-DD, only where the question itself wants no sources published before; never the period it is about",
    )
    published_to: str = Field(default="", description="the same for sources published after")

    def to_wants(self) -> ReaderWants:
        """Return what the reader wants beside the goal, as far as a plan can hold it."""
        first, last = _read_day(self.published_from), _read_day(self.published_to)
        in_order = not (first and last and first > last)
        return ReaderWants(
            form=_cut(self.form),
            audience=_cut(self.audience),
            length=_cut(self.length),
            readings=_cut_all(self.interpretations, 20),
            scope=_cut(self.scope),
            must_cover=_cut_all(self.must_cover, 20),
            key_terms=_cut_all(self.key_terms, 40),
            published_from=first if in_order else None,
            published_to=last if in_order else None,
        )


def _cut(said: str) -> str:
    return make_safe(said).strip()[:FIELD_CHARS]


def _cut_all(said: Sequence[str], most: int) -> tuple[str, ...]:
    return tuple(filter(None, map(_cut, said)))[:most]


def _read_day(said: str) -> date | None:
    try:
        return date.fromisoformat(said.strip())
    except ValueError:
        return None


SPARE = ["scope", "form", "audience", "length", "interpretations", "published_from", "published_to"]
INTENT = declare_step("intent", IntentAnswer, max_tokens=1_500, spare=SPARE)
PLAN = declare_step("plan", PlanAnswer, max_tokens=3_000, spare=["purpose", "expected_evidence", "depends_on"])


async def make_plan(query: ResearchQuery, kit: Kit) -> ResearchPlan:
    """Analyse the question, then split it, unless all there is to search is read whole.

    When the model fails, the plan is the question itself, and says so.
    """
    asker = Asker(kit, PLANNER)
    documents = await _list_whole_documents(kit)
    intent = await _analyse_intent(query, kit, asker, documents)
    if documents:
        return frame_plan(make_single_plan(query), intent)
    framed = frame_plan(make_single_plan(query), intent, await _describe_sources(kit))
    return await _ask_plan(query, framed, kit, asker)


def frame_plan(plan: ResearchPlan, intent: IntentAnswer, sources: str = "") -> ResearchPlan:
    """Return the plan with what the reader wants and what is searched."""
    told = {"intent": intent.goal.strip()[:INTENT_CHARS], "wants": intent.to_wants(), "sources": sources[:SOURCES_CHARS]}
    return ResearchPlan.of_any_version({**dict(plan), **told})


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


async def _analyse_intent(query: ResearchQuery, kit: Kit, asker: Asker, documents: str) -> IntentAnswer:
    form = kit.codec.describe_form(INTENT, kit.prompts, kit.language)
    memory = "\n\n".join(part for part in (_format_memory(query, kit), documents) if part)
    messages = kit.prompts.get("intent", kit.language).render(
        today=kit.today.isoformat(), question=query.question, memory=memory, form=form
    )
    try:
        return (await asker.ask(INTENT, messages)).answer
    except (ModelError, BudgetSpent) as error:
        await _warn(kit, "intent_failed", describe_failure(error, kit.language))
        return IntentAnswer()


async def _ask_plan(query: ResearchQuery, whole: ResearchPlan, kit: Kit, asker: Asker) -> ResearchPlan:
    """Return the model's split of the question in place of the one part of `whole`, else that plan, which then says why."""
    most = kit.bounds.subtasks
    messages = kit.prompts.get("plan", kit.language).render(
        today=kit.today.isoformat(),
        question=query.question,
        intent=tell_all(whole, kit.language),
        memory=_format_memory(query, kit),
        most=str(most),
        tools=format_tools(kit, whole.sources),
        form=kit.codec.describe_form(PLAN, kit.prompts, kit.language),
    )
    try:
        split = repair_plan((await asker.ask(PLAN, messages)).answer, most)
        unsplit = "" if split else say("gave_none", kit.language)
    except (ModelError, BudgetSpent) as error:
        split, unsplit = None, describe_failure(error, kit.language)
    if split is None:
        await _warn(kit, "plan_failed", unsplit)
        return whole.model_copy(update={"unsplit": make_safe(unsplit)[:UNSPLIT_CHARS]})
    return whole.model_copy(update={"title": split.title or whole.title, "subtasks": split.subtasks})


def _format_memory(query: ResearchQuery, kit: Kit) -> str:
    return format_memory(add_style_notes(kit.memory, query, kit.language), kit.language)


async def _warn(kit: Kit, what: str, detail: str) -> None:
    await kit.record.tell(EventType.WARNING, PLANNER, {"message": say(what, kit.language, detail=detail)})
