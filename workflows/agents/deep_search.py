"""The deep-search agent: it runs one act-observe loop on one subtask, then writes one finding (MindDR section 3.1)."""

from collections.abc import Sequence

from app.domain.budget import StopReason
from app.domain.chat import Message
from app.domain.errors import ContextTooLong, ModelError
from app.domain.evidence import Finding, Passage, Quote
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.run import EventType
from workflows.agents.actions import make_act_step
from workflows.agents.asker import Asker
from workflows.agents.brief import find_quotes
from workflows.agents.evidence import format_passages
from workflows.agents.failures import describe_failure, describe_stop
from workflows.agents.finding_quotes import FINDING, MAX_LISTED, FindingAnswer, QuotedFinding
from workflows.agents.kit import Kit
from workflows.agents.loop import Exploration, explore
from workflows.agents.memory_text import format_memory
from workflows.agents.ports import BudgetSpent
from workflows.agents.reader_wants import tell_all
from workflows.agents.run_options import add_option_notes
from workflows.agents.stage_memory import path_of_search
from workflows.agents.tool_use import format_tools
from workflows.agents.whole_reading import make_whole_finding, read_whole
from workflows.agents.wording import say

FINAL_STOPS = (StopReason.BUDGET, StopReason.DROPPED)
GAP_CHARS = 500


async def search_deeply(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
    """Work one subtask until it is answered or a limit is reached; where all there is can be read whole, search nothing.

    Return a finding even when the model or the tools fail.
    """
    asker = Asker(kit, path_of_search(subtask.id))
    try:
        if passages := await read_whole(kit, asker.agent):
            return make_whole_finding(subtask, passages)
    except BudgetSpent as spent:
        return Finding(subtask_id=subtask.id, stop=spent.reason)
    state = await explore(kit, asker, render_opening(subtask, plan, query, kit), subtask.question)
    if not len(state.notebook):
        return _make_empty_finding(subtask, state)
    if state.stop in FINAL_STOPS:
        return await _salvage_finding(subtask, kit, state, describe_stop(state.stop, kit.language))
    try:
        answer = await _ask_finding(kit, state, subtask)
    except BudgetSpent as spent:
        state.end(spent.reason)
        return await _salvage_finding(subtask, kit, state, describe_failure(spent, kit.language))
    except ModelError as error:
        state.end(state.stop or StopReason.FAILED, state.detail or describe_failure(error, kit.language))
        return await _salvage_finding(subtask, kit, state, state.detail)
    return await _make_finding(subtask, kit, state, answer)


def render_opening(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit, form: str = "") -> tuple[Message, ...]:
    """Return the first messages of an agent's conversation on a subtask. `form` replaces the usual form of a turn."""
    return kit.prompts.get("search", kit.language).render(
        today=kit.today.isoformat(),
        tools=format_tools(kit, plan.sources),
        form=form or kit.codec.describe_form(make_act_step(frozenset(kit.tools)), kit.prompts, kit.language),
        question=query.question,
        intent=tell_all(plan, kit.language) or say("none", kit.language),
        title=subtask.title,
        subtask=subtask.question,
        purpose=subtask.purpose or say("none", kit.language),
        expected=subtask.expected_evidence or say("none", kit.language),
        others="\n".join(f"- {s.title}" for s in plan.subtasks if s.id != subtask.id) or say("none", kit.language),
        memory=format_memory(
            add_option_notes(kit.memory, query, kit.language), kit.language, f"{subtask.question} {subtask.expected_evidence}"
        ),
        turns=str(kit.limits.max_turns),
        calls=str(kit.limits.max_tool_calls),
        queries=str(min(kit.bounds.queries_per_action, kit.limits.max_tool_calls)),
    )


async def _ask_finding(kit: Kit, state: Exploration, subtask: Subtask) -> FindingAnswer:
    """Ask for the finding at the end of the conversation, or over the evidence alone when the conversation is too long."""
    if not state.context_full:
        try:
            messages = (*state.conversation.messages, *_render_closing(kit, subtask, evidence=""))
            return (await state.asker.ask(FINDING, messages)).answer
        except ContextTooLong:
            state.context_full = True
    evidence = format_passages(state.notebook.passages, kit.bounds.evidence_chars // 3)
    messages = state.notebook.name_passages(_render_closing(kit, subtask, evidence))
    return (await state.asker.ask(FINDING, messages)).answer


def _render_closing(kit: Kit, subtask: Subtask, evidence: str) -> Sequence[Message]:
    form = kit.codec.describe_form(FINDING, kit.prompts, kit.language)
    return kit.prompts.get("finding", kit.language).render(subtask=subtask.question, form=form, evidence=evidence)


async def _make_finding(subtask: Subtask, kit: Kit, state: Exploration, answer: FindingAnswer) -> Finding:
    found = QuotedFinding(answer, state.notebook)
    if found.invented:
        message = say("ids_invented", kit.language, n=found.invented)
        await kit.record.tell(EventType.WARNING, state.asker.agent, {"message": message})
    quotes = found.quotes or await _salvage_quotes(kit, state, subtask)
    salvaged = not found.quotes and bool(quotes)
    return Finding(
        subtask_id=subtask.id,
        answer=found.answer,
        quotes=quotes,
        passages=found.passages or _list_holding(quotes, state),
        gaps=tuple(" ".join(g.split())[:GAP_CHARS] for g in answer.gaps if g.strip())[:MAX_LISTED],
        conflicts=found.conflicts,
        thoughts=tuple(state.thoughts),
        stop=state.stop or StopReason.SUFFICIENT,
        detail=state.detail,
        notices=(_tell_salvage(subtask, kit, say("cites_no_passage_seen", kit.language)),) if salvaged else (),
        turns=state.turns,
        usage=state.used,
    )


async def _salvage_finding(subtask: Subtask, kit: Kit, state: Exploration, why: str) -> Finding:
    """Return a finding with the best sentences found, without the model's summary; `why` the model gave none."""
    quotes = await _salvage_quotes(kit, state, subtask)
    return Finding(
        subtask_id=subtask.id,
        answer=say("salvaged", kit.language),
        quotes=quotes,
        passages=_list_holding(quotes, state),
        thoughts=tuple(state.thoughts),
        stop=state.stop or StopReason.FAILED,
        detail=state.detail,
        notices=(_tell_salvage(subtask, kit, why),) if quotes else (),
        turns=state.turns,
        usage=state.used,
    )


def _make_empty_finding(subtask: Subtask, state: Exploration) -> Finding:
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


def _list_holding(quotes: Sequence[Quote], state: Exploration) -> tuple[Passage, ...]:
    """Return the passages that hold one of the quotes."""
    seen = [passage for _, passage in state.notebook.passages]
    return tuple(passage for passage in seen if any(passage.holds(quote) for quote in quotes))


def _tell_salvage(subtask: Subtask, kit: Kit, why: str) -> str:
    return say("part_salvaged", kit.language, title=subtask.title, detail=why)


async def _salvage_quotes(kit: Kit, state: Exploration, subtask: Subtask) -> tuple[Quote, ...]:
    """Find quotes without the model, under a path of their own: these calls are not the model's."""
    passages = [passage for _, passage in state.notebook.passages]
    return await find_quotes(subtask.question, passages, f"{state.asker.agent}/quotes", kit)
