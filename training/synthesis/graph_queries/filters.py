"""The filters of a question, in order (MindDR 4.1): answered without a search, conditions, reasoning, coherence."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import Field

from app.domain.missing import Missing
from training.synthesis.graph_queries.conditions import Condition
from training.synthesis.graph_queries.constraints import HopSearch
from training.synthesis.graph_queries.naming import find_told
from training.synthesis.graph_queries.wording import show_condition
from training.synthesis.training_set.outcome import RefusedCandidate
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge

CLOSED_BOOK_TRIES = 3
SHOWN_PASSAGES = 3
SHOWN_CHARS = 800
LEAST_COHERENCE, MOST_COHERENCE = 3, 5
YES_NO = {"yes": True, "no": False}


class GuessAnswer(StepAnswer):
    """An answer from memory."""

    main = "answer"

    answer: str = Field(default="", description="the answer in a few words; empty if you do not know it")


class HoldsAnswer(StepAnswer):
    """A verdict on one condition or one hop."""

    id: str = Field(default="", description="the id, such as c2 or h1")
    verdict: str = Field(default="", description="yes or no", json_schema_extra={"enum": [*YES_NO]})


class ConditionsAnswer(StepAnswer):
    """Verdicts on all conditions."""

    verdicts: tuple[HoldsAnswer, ...] = Field(default=(), description="one for each condition")
    contradictory: str = Field(default="", description="yes or no", json_schema_extra={"enum": [*YES_NO]})


class ReasoningAnswer(StepAnswer):
    """Verdicts on all hops."""

    verdicts: tuple[HoldsAnswer, ...] = Field(default=(), description="one for each hop")


class CoherenceAnswer(StepAnswer):
    """A score for question and answer together."""

    reason: str = Field(default="", description="what decides it, in one sentence")
    score: int = Field(default=0, description="1 to 5")


CLOSED_BOOK = declare_step("graph_closed_book", GuessAnswer, max_tokens=200)
CONDITIONS = declare_step("graph_conditions", ConditionsAnswer, max_tokens=800)
REASONING = declare_step("graph_reasoning", ReasoningAnswer, max_tokens=800)
COHERENCE = declare_step("graph_coherence", CoherenceAnswer, max_tokens=300)


class ShownHop(NamedTuple):
    """A hop as the judge of the reasoning sees it: its two entities, and its search."""

    known: str
    found: str
    search: HopSearch


async def find_guessed(kit: Kit, question: str, answer_names: Sequence[str]) -> RefusedCandidate | None:
    """Refuse a question that is answered without a search in any of several tries. The prompt tells the tries apart."""
    tries = (
        ask_judge(kit, CLOSED_BOOK, lambda said: said.answer, question=question, attempt=str(n + 1))
        for n in range(CLOSED_BOOK_TRIES)
    )
    for said in await asyncio.gather(*tries):
        if isinstance(said, Missing):
            return RefusedCandidate(stage="closed_book", reason=said.reason)
        if find_told(answer_names, said):
            return RefusedCandidate(stage="closed_book", reason="the question is answered without a search")
    return None


async def find_implausible_condition(kit: Kit, question: str, conditions: Sequence[Condition]) -> RefusedCandidate | None:
    """Refuse a question that says a condition which its sentence does not, or whose conditions contradict each other."""

    def read(said: ConditionsAnswer) -> str | None:
        contradictory = YES_NO.get(said.contradictory.strip().lower())
        verdicts = _read_verdicts(said.verdicts)
        if contradictory is None or any(verdicts.get(c.id) is None for c in conditions):
            return None
        failed = [c.id for c in conditions if not verdicts[c.id]]
        return f"condition {failed[0]} does not follow" if failed else "the conditions contradict" if contradictory else ""

    shown = "\n".join(f"{show_condition(c)} | {c.phrase}" for c in conditions)
    return _refuse("conditions", await ask_judge(kit, CONDITIONS, read, question=question, conditions=shown))


async def find_implausible_reasoning(kit: Kit, question: str, hops: Sequence[ShownHop]) -> RefusedCandidate | None:
    """Refuse a question with a hop for which the found passages give no reason."""

    def read(said: ReasoningAnswer) -> str | None:
        verdicts = _read_verdicts(said.verdicts)
        wanted = [f"h{n}" for n in range(1, len(hops) + 1)]
        if any(verdicts.get(name) is None for name in wanted):
            return None
        return next((f"hop {name} does not follow" for name in wanted if not verdicts[name]), "")

    shown = "\n\n".join(_show_hop(n, hop) for n, hop in enumerate(hops, 1))
    return _refuse("reasoning", await ask_judge(kit, REASONING, read, question=question, hops=shown))


async def score_coherence(kit: Kit, question: str, answer: str) -> int | RefusedCandidate:
    """Return the coherence of question and answer, or refuse what is not coherent enough."""

    def read(said: CoherenceAnswer) -> int | None:
        return said.score if 1 <= said.score <= MOST_COHERENCE else None

    found = await ask_judge(kit, COHERENCE, read, question=question, answer=answer)
    if isinstance(found, Missing):
        return RefusedCandidate(stage="coherence", reason=found.reason)
    return found if found >= LEAST_COHERENCE else RefusedCandidate(stage="coherence", reason=f"its score is {found}")


def _read_verdicts(said: Sequence[HoldsAnswer]) -> dict[str, bool | None]:
    return {one.id.strip().strip("[]").lower(): YES_NO.get(one.verdict.strip().lower()) for one in said}


def _show_hop(number: int, hop: ShownHop) -> str:
    place = max(0, hop.search.rank - 1)
    chosen = [hop.search.found[place], *hop.search.found[:place], *hop.search.found[place + 1 :]][:SHOWN_PASSAGES]
    passages = "\n".join(f"- {passage.source.title}: {' '.join(passage.text.split())[:SHOWN_CHARS]}" for passage in chosen)
    return f"h{number} | {hop.known} -> {hop.found} | {hop.search.query}\n{passages}"


def _refuse(stage: str, reason: str | Missing) -> RefusedCandidate | None:
    if isinstance(reason, Missing):
        return RefusedCandidate(stage=stage, reason=reason.reason)
    return RefusedCandidate(stage=stage, reason=reason) if reason else None
