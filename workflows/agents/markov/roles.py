"""The three roles of the one policy. Each asks the same model with its own prompt (QSR C.4 to C.9)."""

import re
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from app.domain.errors import AnswerInvalid
from app.domain.markov import MarkovState
from app.domain.query import ResearchQuery
from workflows.agents.actions import Act, act_in_tags, offering
from workflows.agents.asking import Asker
from workflows.agents.kit import Kit
from workflows.agents.memory_text import memory_as_text
from workflows.agents.passage_ids import cited_passages
from workflows.agents.steps import Answer, Step, TextStep, step
from workflows.agents.untrusted import as_data
from workflows.agents.wishes import with_wishes
from workflows.agents.wording import say

MEMORY_CHARS = 16_000
PLAN_CHARS = 3_000
_PLAN_TAG = re.compile(r"<plan>(.*?)(?:</plan>|\Z)", re.DOTALL | re.IGNORECASE)


class Move(Act):
    """The search agent's turn: the current plan, and the next action with up to five calls."""

    plan: str = Field(default="", description="the whole plan as a Markdown list, done items marked [x]")


class Fused(Answer):
    """The state agent's answer: the old memory with what the chunk adds."""

    memory: tuple[str, ...] = Field(default=(), description="one fact an entry, with its passage ids as [p3]")
    plan: str = Field(default="", description="the plan with items marked done that the chunk settles")


class LastPlan(Answer):
    """The plan at the end of all turns."""

    plan: str = ""


def _move_in_tags(said: str) -> Mapping[str, Any] | None:
    act, plan = act_in_tags(said), _PLAN_TAG.search(said)
    return {**act, "plan": plan.group(1).strip() if plan else ""} if act else None


MOVE = step("markov_search", Move, max_tokens=2_500, loose=_move_in_tags, form="form_act_tags")
STATE = step("markov_state", Fused, max_tokens=5_000)
LAST = step("markov_last", LastPlan, max_tokens=1_500)
REPORT = TextStep("markov_report", max_tokens=8_000)


def move_step(tools: frozenset[str]) -> Step[Move]:
    """Return the search agent's step for a kit that has only these tools."""
    return offering(MOVE, tools)


async def choose_move(kit: Kit, asker: Asker, query: ResearchQuery, state: MarkovState, calls_left: int, remark: str) -> Move:
    """A_search: return the refined plan and the next action (QSR C.4, C.5). `remark` comments on the last action."""
    chosen = move_step(frozenset(kit.tools))
    messages = kit.prompts.get("markov_search", kit.language).render(
        today=kit.today.isoformat(),
        tools="\n".join(f"- {tool.name}: {tool.description}" for tool in kit.tools.values()),
        form=kit.codec.form(chosen, kit.prompts, kit.language),
        notes=memory_as_text(with_wishes(kit.memory, query, kit.language), kit.language),
        calls=str(calls_left),
        at_once=str(kit.bounds.queries_per_action),
        remark=remark or say("none", kit.language),
        **_shown(kit, query, state),
    )
    return (await asker.ask(chosen, messages)).answer


async def fuse(kit: Kit, asker: Asker, query: ResearchQuery, state: MarkovState, chunk: str) -> MarkovState:
    """A_state, eq. 4: add the chunk's facts to memory and plan. Old facts whose passages the answer does not cite are kept."""
    messages = kit.prompts.get("markov_state", kit.language).render(
        chunk=chunk, form=kit.codec.form(STATE, kit.prompts, kit.language), **_shown(kit, query, state, report=False)
    )
    answer = (await asker.ask(STATE, messages)).answer
    fresh = tuple(dict.fromkeys(" ".join(entry.split()) for entry in answer.memory if entry.strip()))
    return state.model_copy(update={"memory": kept(state.memory, fresh), "plan": answer.plan.strip()[:PLAN_CHARS] or state.plan})


def kept(old: tuple[str, ...], fresh: tuple[str, ...]) -> tuple[str, ...]:
    """Return the new memory plus the old entries whose passages it cites nowhere. Above a length, the oldest entries go first."""
    remembered = {name for entry in fresh for name in cited_passages(entry)}
    lost = [entry for entry in old if (ids := cited_passages(entry)) and not remembered.intersection(ids)]
    entries, length = [*lost, *fresh], sum(map(len, (*lost, *fresh)))
    while entries and length > MEMORY_CHARS:
        length -= len(entries.pop(0))
    return tuple(entries)


async def revise(kit: Kit, asker: Asker, query: ResearchQuery, state: MarkovState, chunk: str) -> str:
    """A_report, eq. 5: work the chunk into the report."""

    def check(text: str) -> None:
        if not cited_passages(text):
            raise AnswerInvalid(say("cites_no_passage", kit.language))

    messages = kit.prompts.get("markov_report", kit.language).render(
        today=kit.today.isoformat(),
        words=str(kit.bounds.sections * kit.bounds.section_words),
        chunk=chunk,
        form=kit.codec.form(REPORT, kit.prompts, kit.language),
        notes=memory_as_text(with_wishes(kit.memory, query, kit.language), kit.language),
        **_shown(kit, query, state),
    )
    return await asker.write(REPORT, messages, check)


async def last_plan(kit: Kit, asker: Asker, query: ResearchQuery, state: MarkovState) -> str:
    """Ask for the final plan in the forced last turn, when the tool calls are used up (QSR C.5)."""
    form = kit.codec.form(LAST, kit.prompts, kit.language)
    shown = _shown(kit, query, state, report=False)
    messages = kit.prompts.get("markov_last", kit.language).render(form=form, **shown)
    return (await asker.ask(LAST, messages)).answer.plan.strip()[:PLAN_CHARS] or state.plan


def _shown(kit: Kit, query: ResearchQuery, state: MarkovState, report: bool = True) -> dict[str, str]:
    """Return the state as every prompt shows it. A model wrote it from foreign text, so it is shown as data."""
    nothing = say("none", kit.language)
    told = {
        "question": query.question,
        "memory": "\n".join(f"- {as_data(entry)}" for entry in state.memory) or nothing,
        "plan": as_data(state.plan) or nothing,
    }
    return told | ({"report": as_data(state.report) or nothing} if report else {})
