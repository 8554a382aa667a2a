"""The three roles of the one policy. Each asks the same model with its own prompt (QSR C.4 to C.9)."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field

from app.domain.query import ResearchQuery
from app.domain.run import EventType
from app.domain.value import Value
from workflows.agents.actions import AgentAct, offer_tools, read_tagged_act
from workflows.agents.answer_reading import check_length
from workflows.agents.asker import Asker, FaultyReply
from workflows.agents.failures import refuse_answer
from workflows.agents.kit import Kit
from workflows.agents.memory_text import format_memory
from workflows.agents.notebook import Notebook
from workflows.agents.passage_ids import list_cited_passages
from workflows.agents.run_options import add_option_notes
from workflows.agents.steps import Step, StepAnswer, TextStep, declare_step
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

MEMORY_CHARS = 16_000
PLAN_CHARS = 3_000
_PLAN_TAG = re.compile(r"<plan>(.*?)(?:</plan>|\Z)", re.DOTALL | re.IGNORECASE)


class MarkovState(Value):
    """Everything that the next turn reads (QSR section 3.4). Memory entries and report cite passages by short ids, as `[p3]`."""

    memory: tuple[str, ...] = ()
    plan: str = ""
    report: str = ""


class SearchMove(AgentAct):
    """The search agent's turn: the current plan, and the next action with up to five calls."""

    plan: str = Field(default="", description="the whole plan as a Markdown list, done items marked [x]")


class FusedStateAnswer(StepAnswer):
    """The state agent's answer: the old memory with what the chunk adds."""

    memory: tuple[str, ...] = Field(default=(), description="one fact an entry, with its passage ids as [p3]")
    plan: str = Field(default="", description="the plan with items marked done that the chunk settles")


class LastPlanAnswer(StepAnswer):
    """The plan at the end of all turns."""

    plan: str = ""


def _read_tagged_move(said: str) -> Mapping[str, Any] | None:
    act, plan = read_tagged_act(said), _PLAN_TAG.search(said)
    return {**act, "plan": plan.group(1).strip() if plan else ""} if act else None


MOVE = declare_step("markov_search", SearchMove, max_tokens=2_500, loose=_read_tagged_move, form="form_move_tags")
STATE = declare_step("markov_state", FusedStateAnswer, max_tokens=5_000)
LAST = declare_step("markov_last", LastPlanAnswer, max_tokens=1_500)
REPORT = TextStep("markov_report", max_tokens=8_000)


def make_move_step(tools: frozenset[str]) -> Step[SearchMove]:
    """Return the search agent's step for a kit that has only these tools."""
    return offer_tools(MOVE, tools)


async def choose_move(
    kit: Kit,
    asker: Asker,
    query: ResearchQuery,
    state: MarkovState,
    notebook: Notebook,
    calls_left: int,
    remark: str,
    temperature: float,
) -> SearchMove | FaultyReply:
    """A_search: return the refined plan and the next action (QSR C.4, C.5). `remark` comments on the last action.

    Where the kit observes faults, an answer in a wrong form is returned as such; else it is asked for again.
    """
    chosen = make_move_step(frozenset(kit.tools))
    chosen = replace(chosen, max_tokens=kit.bounds.action_tokens or chosen.max_tokens)
    messages = kit.prompts.get("markov_search", kit.language).render(
        today=kit.today.isoformat(),
        tools="\n".join(f"- {tool.name}: {tool.description}" for tool in kit.tools.values()),
        form=kit.codec.describe_form(chosen, kit.prompts, kit.language),
        notes=format_memory(add_option_notes(kit.memory, query, kit.language), kit.language),
        calls=str(calls_left),
        at_once=str(kit.bounds.queries_per_action),
        remark=remark or say("none", kit.language),
        **_state_values(kit, query, state),
    )
    asked = notebook.name_passages(messages)
    if not kit.bounds.observe_faults:
        return (await asker.ask(chosen, asked, temperature)).answer
    reply = await asker.ask_once(chosen, asked, temperature)
    return reply if isinstance(reply, FaultyReply) else reply.answer


async def fuse_state(
    kit: Kit, asker: Asker, query: ResearchQuery, state: MarkovState, notebook: Notebook, chunk: str
) -> MarkovState:
    """A_state, eq. 4: add the chunk's facts to memory and plan. Old facts whose passages the answer does not cite are kept.

    Notes that are too long are cut, and the run's watchers are told.
    """
    messages = kit.prompts.get("markov_state", kit.language).render(
        chunk=chunk,
        form=kit.codec.describe_form(STATE, kit.prompts, kit.language),
        **_state_values(kit, query, state, report=False),
    )
    answer = (await asker.ask(STATE, notebook.name_passages(messages))).answer
    fresh = tuple(dict.fromkeys(" ".join(entry.split()) for entry in answer.memory if entry.strip()))
    merged, plan = merge_memory(state.memory, fresh), answer.plan.strip()
    memory = cut_memory(merged)
    if (lost := len(merged) - len(memory)) or len(plan) > PLAN_CHARS:
        message = say("notes_cut", kit.language, n=lost, chars=max(0, len(plan) - PLAN_CHARS))
        await kit.record.tell(EventType.WARNING, asker.agent, {"message": message})
    return state.model_copy(update={"memory": memory, "plan": plan[:PLAN_CHARS] or state.plan})


def merge_memory(old: tuple[str, ...], fresh: tuple[str, ...]) -> tuple[str, ...]:
    """Return the new memory plus the old entries whose passages it cites nowhere, the oldest first."""
    remembered = {name for entry in fresh for name in list_cited_passages(entry)}
    lost = [entry for entry in old if (ids := list_cited_passages(entry)) and not remembered.intersection(ids)]
    return (*lost, *fresh)


def cut_memory(entries: tuple[str, ...]) -> tuple[str, ...]:
    """Return the entries that a prompt has room for. The oldest go first."""
    kept, length = list(entries), sum(map(len, entries))
    while kept and length > MEMORY_CHARS:
        length -= len(kept.pop(0))
    return tuple(kept)


async def revise_report(kit: Kit, asker: Asker, query: ResearchQuery, state: MarkovState, notebook: Notebook, chunk: str) -> str:
    """A_report, eq. 5: work the chunk into the report."""
    words = kit.bounds.sections * kit.bounds.section_words

    def check(text: str) -> None:
        check_length(text, words, kit.language)
        if not list_cited_passages(text):
            raise refuse_answer("cites_no_passage", kit.language)

    messages = kit.prompts.get("markov_report", kit.language).render(
        today=kit.today.isoformat(),
        words=str(words),
        chunk=chunk,
        form=kit.codec.describe_form(REPORT, kit.prompts, kit.language),
        notes=format_memory(add_option_notes(kit.memory, query, kit.language), kit.language),
        **_state_values(kit, query, state),
    )
    return await asker.write(REPORT, notebook.name_passages(messages), check)


async def ask_last_plan(kit: Kit, asker: Asker, query: ResearchQuery, state: MarkovState, notebook: Notebook) -> str:
    """Ask for the final plan in the forced last turn, when the calls are used up (QSR C.5); empty where it stays."""
    form = kit.codec.describe_form(LAST, kit.prompts, kit.language)
    shown = _state_values(kit, query, state, report=False)
    messages = kit.prompts.get("markov_last", kit.language).render(form=form, **shown)
    return (await asker.ask(LAST, notebook.name_passages(messages))).answer.plan.strip()[:PLAN_CHARS]


def _state_values(kit: Kit, query: ResearchQuery, state: MarkovState, report: bool = True) -> dict[str, str]:
    """Return the state as every prompt shows it. A model wrote it from foreign text, so it is shown as data."""
    nothing = say("none", kit.language)
    told = {
        "question": query.question,
        "memory": "\n".join(f"- {as_data(entry)}" for entry in state.memory) or nothing,
        "plan": as_data(state.plan) or nothing,
    }
    return told | ({"report": as_data(state.report) or nothing} if report else {})
