"""FACT's questions (DeepResearch Bench): which facts a report cites, which of them repeat others, which their pages support."""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge
from workflows.judging.list_judges import number_texts


class PageVerdict(StrEnum):
    """A page's verdict on a fact; `unknown`: the page could not be read or says nothing on it."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class FactAnswer(StepAnswer):
    """One fact and the address it cites."""

    fact: str = Field(default="", description="the fact, understandable by itself")
    url: str = Field(default="", description="the address it cites, copied exactly")


class FactsAnswer(StepAnswer):
    """The cited facts."""

    facts: tuple[FactAnswer, ...] = ()


class RepetitionsAnswer(StepAnswer):
    """Numbers of statements."""

    repetitions: tuple[int, ...] = Field(default=(), description="numbers of the statements that repeat an earlier one")


class FactVerdict(StepAnswer):
    """The verdict on one statement."""

    statement: int = Field(default=0, description="number of the statement")
    verdict: str = Field(default="", description="supported, unsupported or unknown", json_schema_extra={"enum": [*PageVerdict]})


class PageAnswer(StepAnswer):
    """One verdict for each statement."""

    verdicts: tuple[FactVerdict, ...] = ()


FACTS = declare_step("facts", FactsAnswer, max_tokens=8_000)
SAME = declare_step("same_facts", RepetitionsAnswer, max_tokens=400)
PAGE = declare_step("page_facts", PageAnswer, max_tokens=2_000)


async def list_cited_facts(kit: Kit, report: str) -> list[tuple[str, str]] | Missing:
    """Return facts with the addresses they cite, in the report's order. Addresses that are not in the report are left out."""

    def read(said: FactsAnswer) -> list[tuple[str, str]] | None:
        return [(entry.fact.strip(), entry.url.strip()) for entry in said.facts if entry.fact.strip() and entry.url.strip()]

    found = await ask_judge(kit, FACTS, read, report=report)
    return found if isinstance(found, Missing) else [(fact, url) for fact, url in found if url in report]


async def list_distinct_facts(kit: Kit, facts: Sequence[str]) -> list[str] | Missing:
    """Return the facts without those that repeat an earlier one. A single fact needs no model."""
    if len(facts) < 2:
        return list(facts)

    def read(said: RepetitionsAnswer) -> list[str] | None:
        repeated = set(said.repetitions)
        usable = repeated <= set(range(2, len(facts) + 1))
        return [fact for number, fact in enumerate(facts, 1) if number not in repeated] if usable else None

    return await ask_judge(kit, SAME, read, statements=number_texts(facts))


async def judge_page(kit: Kit, page: str, facts: Sequence[str]) -> list[PageVerdict] | Missing:
    """Return a page's verdict on each fact. An empty page needs no model."""
    if not page.strip():
        return [PageVerdict.UNKNOWN] * len(facts)

    def read(said: PageAnswer) -> list[PageVerdict] | None:
        found = {entry.statement: entry.verdict.strip().lower() for entry in said.verdicts}
        complete = len(said.verdicts) == len(facts) and found.keys() == set(range(1, len(facts) + 1))
        usable = complete and all(verdict in [*PageVerdict] for verdict in found.values())
        return [PageVerdict(found[number]) for number in range(1, len(facts) + 1)] if usable else None

    return await ask_judge(kit, PAGE, read, page=page, statements=number_texts(facts))
