"""The deep-search agent: it runs one act-observe loop on one subtask, then writes one finding (MindDR section 3.1)."""

from collections.abc import Sequence

from app.domain.budget import StopReason
from app.domain.chat import Message
from app.domain.errors import ContextTooLong, ModelError
from app.domain.evidence import Finding, Quote
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.run import EventType
from workflows.agents.actions import act_step
from workflows.agents.asking import Asker
from workflows.agents.evidence import passages_as_evidence
from workflows.agents.finding import FINDING, MAX_LISTED, FindingAnswer, Located
from workflows.agents.kit import Kit
from workflows.agents.loop import Exploration, explore
from workflows.agents.memory_text import memory_as_text
from workflows.agents.ports import BudgetSpent
from workflows.agents.remembering import search_agent
from workflows.agents.salvage import salvage
from workflows.agents.wishes import with_wishes
from workflows.agents.wording import say

FINAL = (StopReason.BUDGET, StopReason.DROPPED)
GAP_CHARS = 500


async def search_deeply(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
    """Work one subtask until it is answered or a limit is reached. Return a finding even when the model or the tools fail."""
    asker = Asker(kit, search_agent(subtask.id))
    state = await explore(kit, asker, opening(subtask, plan, query, kit), subtask.question)
    if not len(state.notebook):
        return _empty(subtask, state)
    if state.stop in FINAL:
        return _salvaged(subtask, kit, state)
    try:
        answer = await _conclude(kit, state, subtask)
    except BudgetSpent as spent:
        state.end(spent.reason)
        return _salvaged(subtask, kit, state)
    except ModelError as error:
        state.end(state.stop or StopReason.FAILED, state.detail or str(error))
        return _salvaged(subtask, kit, state)
    return await _finding(subtask, kit, state, answer)


def opening(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> tuple[Message, ...]:
    """Return the first messages of an agent's conversation on a subtask."""
    tools = "\n".join(f"- {tool.name}: {tool.description}" for tool in kit.tools.values())
    return kit.prompts.get("search", kit.language).render(
        today=kit.today.isoformat(),
        tools=tools,
        form=kit.codec.form(act_step(frozenset(kit.tools)), kit.prompts, kit.language),
        question=query.question,
        intent=plan.intent or say("none", kit.language),
        title=subtask.title,
        subtask=subtask.question,
        purpose=subtask.purpose or say("none", kit.language),
        expected=subtask.expected_evidence or say("none", kit.language),
        others="\n".join(f"- {s.title}" for s in plan.subtasks if s.id != subtask.id) or say("none", kit.language),
        memory=memory_as_text(with_wishes(kit.memory, query, kit.language), kit.language),
        turns=str(kit.limits.max_turns),
        calls=str(kit.limits.max_tool_calls),
    )


async def _conclude(kit: Kit, state: Exploration, subtask: Subtask) -> FindingAnswer:
    """Ask for the finding at the end of the conversation, or over the evidence alone when the conversation is too long."""
    if not state.context_full:
        try:
            messages = (*state.conversation.messages, *_closing(kit, subtask, evidence=""))
            return (await state.asker.ask(FINDING, messages)).answer
        except ContextTooLong:
            state.context_full = True
    evidence = passages_as_evidence(state.notebook.passages, kit.bounds.evidence_chars // 3)
    return (await state.asker.ask(FINDING, _closing(kit, subtask, evidence))).answer


def _closing(kit: Kit, subtask: Subtask, evidence: str) -> Sequence[Message]:
    form = kit.codec.form(FINDING, kit.prompts, kit.language)
    return kit.prompts.get("finding", kit.language).render(subtask=subtask.question, form=form, evidence=evidence)


async def _finding(subtask: Subtask, kit: Kit, state: Exploration, answer: FindingAnswer) -> Finding:
    located = Located(answer, state.notebook)
    if located.invented:
        message = f"{located.invented} quotes stand in no source and were dropped"
        await kit.record.tell(EventType.WARNING, state.asker.agent, {"message": message})
    quotes = located.quotes or _best_sentences(state, subtask)
    return Finding(
        subtask_id=subtask.id,
        answer=located.marked(answer.answer),
        quotes=quotes,
        gaps=tuple(" ".join(g.split())[:GAP_CHARS] for g in answer.gaps if g.strip())[:MAX_LISTED],
        conflicts=located.conflicts(answer.conflicts),
        thoughts=tuple(state.thoughts),
        stop=state.stop or StopReason.SUFFICIENT,
        detail=state.detail,
        turns=state.turns,
        usage=state.used,
    )


def _salvaged(subtask: Subtask, kit: Kit, state: Exploration) -> Finding:
    """Return a finding with the best sentences found, without the model's summary."""
    return Finding(
        subtask_id=subtask.id,
        answer=say("salvaged", kit.language),
        quotes=_best_sentences(state, subtask),
        thoughts=tuple(state.thoughts),
        stop=state.stop or StopReason.FAILED,
        detail=state.detail,
        turns=state.turns,
        usage=state.used,
    )


def _empty(subtask: Subtask, state: Exploration) -> Finding:
    stop = StopReason.NO_EVIDENCE if state.stop is StopReason.SUFFICIENT else state.stop or StopReason.NO_EVIDENCE
    return Finding(
        subtask_id=subtask.id,
        gaps=(" ".join(subtask.question.split())[:GAP_CHARS],),
        thoughts=tuple(state.thoughts),
        stop=stop,
        detail=state.detail,
        turns=state.turns,
        usage=state.used,
    )


def _best_sentences(state: Exploration, subtask: Subtask) -> tuple[Quote, ...]:
    return salvage([passage for _, passage in state.notebook.passages], subtask.question)
