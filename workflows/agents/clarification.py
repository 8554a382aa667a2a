"""Questions to the reader before the research: at most three, and only where an answer would change the plan."""

import re

from pydantic import Field, ValidationError

from app.domain.contract import ClarifyingQuestion
from app.domain.errors import ModelError
from app.domain.query import Language, ResearchQuery
from retrieval.language.years import find_years
from workflows.agents.asker import Asker
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.steps import StepAnswer, declare_step

CLARIFICATION_AGENT = "clarification"
MAX_QUESTIONS = 3
MAX_OPTIONS = 4
QUESTION_CHARS, WHY_CHARS, OPTION_CHARS = 300, 300, 120
_OVER_TIME = re.compile(
    r"\b(?:recent(?:ly)?|lately|nowadays|these days|in the past|over the years|over time|trends?|so far)\b"
    r"|\b(?:change|develop|evolve|grow|rise|fall|decline)d?\b|最近|近年|近来|过去|趋势|变化|演变",
    re.IGNORECASE,
)
_OF_A_COUNTRY = re.compile(
    r"\b(?:governments?|presidents?|prime ministers?|parliaments?|congress|ministers?|courts?|laws?|legislation|tax(?:es|ation)?"
    r"|elections?|police|central banks?|minimum wages?|unemployment|pensions?|immigration)\b"
    r"|政府|总统|总理|议会|法院|法律|法规|税|选举|警察|央行|最低工资|失业|养老金|移民",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:worldwide|global(?:ly)?|international(?:ly)?|countries|nations|states|everywhere)\b|全球|世界|各国|国际|[中美英法德日俄韩]国"
    r"|欧洲|亚洲|非洲",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<!^)(?<![.!?]\s)\b[A-Z]")
EN, ZH = Language.ENGLISH, Language.CHINESE
PERIOD = {
    EN: ("Which years should this cover?", "The question speaks of a course over time and names no period."),
    ZH: ("需要涵盖哪些年份？", "问题涉及随时间的变化，但没有说明时期。"),
}
PLACE = {
    EN: (
        "Which country or region is meant?",
        "The question speaks of something that differs from country to country and names none.",
    ),
    ZH: ("指的是哪个国家或地区？", "问题涉及因国家而异的事物，但没有说明国家。"),
}


class ClarifyingAnswer(StepAnswer):
    """One question to the reader."""

    main = "question"

    question: str = Field(default="", description="one short question to the reader")
    why: str = Field(default="", description="what the answer would change about the research, in one sentence")
    options: tuple[str, ...] = Field(default=(), description="two to four likely answers, a few words each; empty where open")


class ClarificationAnswer(StepAnswer):
    """The questions to ask back; usually none."""

    questions: tuple[ClarifyingAnswer, ...] = Field(default=(), description="at most three; empty when the question is clear")


CLARIFICATION = declare_step("clarification", ClarificationAnswer, max_tokens=1_200)


async def ask_reader_back(query: ResearchQuery, kit: Kit, asks_a_model: bool = True) -> tuple[ClarifyingQuestion, ...]:
    """Return the questions. Without a model, or when it fails, only those that the wording itself leaves open."""
    if not asks_a_model:
        return find_open_points(query)
    form = kit.codec.describe_form(CLARIFICATION, kit.prompts, kit.language)
    messages = kit.prompts.get("clarification", kit.language).render(
        today=kit.today.isoformat(), question=query.question, form=form
    )
    try:
        answer = (await Asker(kit, CLARIFICATION_AGENT).ask(CLARIFICATION, messages)).answer
    except (ModelError, BudgetSpent):
        return find_open_points(query)
    asked = {" ".join(said.question.casefold().split()): said for said in answer.questions}
    usable = [question for said in asked.values() if (question := _question_of(said))]
    return tuple(usable[:MAX_QUESTIONS])


def _question_of(said: ClarifyingAnswer) -> ClarifyingQuestion | None:
    options = dict.fromkeys(_put_on_one_line(option, OPTION_CHARS) for option in said.options)
    question = _put_on_one_line(said.question, QUESTION_CHARS)
    if not any(c.isalnum() for c in question):
        return None
    try:
        kept = tuple(filter(None, options))[:MAX_OPTIONS]
        return ClarifyingQuestion(question=question, why=_put_on_one_line(said.why, WHY_CHARS), options=kept)
    except ValidationError:
        return None


def _put_on_one_line(text: str, chars: int) -> str:
    return " ".join(text.replace("\x00", "").split())[:chars]


def find_open_points(query: ResearchQuery) -> tuple[ClarifyingQuestion, ...]:
    """Return the questions that follow; none for most questions."""
    asked = [PERIOD[query.language]] if _lacks_period(query) else []
    asked += [PLACE[query.language]] if _lacks_place(query.full_question) else []
    return tuple(ClarifyingQuestion(question=words, why=why) for words, why in asked)


def _lacks_period(query: ResearchQuery) -> bool:
    chosen = query.scope is not None and (query.scope.published_from or query.scope.published_to)
    return bool(_OVER_TIME.search(query.full_question)) and not chosen and find_years(query.full_question) is None


def _lacks_place(question: str) -> bool:
    return bool(_OF_A_COUNTRY.search(question)) and not _PLACE.search(question) and not _NAME.search(question)
