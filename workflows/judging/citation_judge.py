"""DeepRubric's three questions about citations (appendix A.4, figures 6 to 8)."""

from enum import StrEnum

from pydantic import Field

from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.steps import StepAnswer, declare_step
from workflows.judging.judge_call import ask_judge


class CitedSupport(StrEnum):
    """The degree to which a cited text supports a statement."""

    FULL = "full"
    PARTIAL = "partial"
    NONE = "none"


class SupportAnswer(StepAnswer):
    """A rating, after its reasons."""

    analysis: str = Field(default="", description="which parts the text has and which it lacks, in one sentence")
    rating: str = Field(default="", description="full, partial or none", json_schema_extra={"enum": [*CitedSupport]})


class YesNoAnswer(StepAnswer):
    """A decision, after its reasons."""

    analysis: str = Field(default="", description="why, in one sentence")
    result: str = Field(default="", description="yes or no", json_schema_extra={"enum": ["yes", "no"]})


SUPPORT = declare_step("cited_support", SupportAnswer, max_tokens=400)
RELEVANCE = declare_step("cited_relevance", YesNoAnswer, max_tokens=400)
NEED = declare_step("needs_citation", YesNoAnswer, max_tokens=400)


async def judge_cited_support(kit: Kit, question: str, statement: str, snippets: str) -> CitedSupport | Missing:
    """Judge how far the joined texts that a statement cites support it."""
    return await ask_judge(kit, SUPPORT, _read_rating, question=question, statement=statement, snippets=snippets)


async def judge_cited_relevance(kit: Kit, question: str, statement: str, snippets: str) -> bool | Missing:
    """Judge whether the cited texts have at least one key point of the statement."""
    return await ask_judge(kit, RELEVANCE, read_yes_or_no, question=question, statement=statement, snippets=snippets)


async def judge_citation_need(kit: Kit, question: str, answer: str, sentence: str) -> bool | Missing:
    """Judge whether a sentence without a citation should have one."""
    return await ask_judge(kit, NEED, read_yes_or_no, question=question, answer=answer, sentence=sentence)


def read_yes_or_no(answer: YesNoAnswer) -> bool | None:
    """Return True for yes, False for no, None for anything else."""
    return {"yes": True, "no": False}.get(answer.result.strip().lower())


def _read_rating(answer: SupportAnswer) -> CitedSupport | None:
    said = answer.rating.strip().lower()
    return CitedSupport(said) if said in [*CitedSupport] else None
