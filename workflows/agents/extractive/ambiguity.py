"""What a question leaves open by its very wording: a course over time without a period, an office or a law without a country."""

import re

from app.domain.contract import ClarifyingQuestion
from app.domain.query import Language, ResearchQuery
from workflows.agents.extractive.asking import asked_of
from workflows.agents.extractive.kinds import QuestionKind
from workflows.agents.extractive.question import Question, analyse

_RECENT = re.compile(
    r"\b(?:recent(?:ly)?|lately|nowadays|these days|in the past|over the years|trends?|so far)\b|最近|近年|近来|过去|趋势",
    re.IGNORECASE,
)
_OF_A_COUNTRY = re.compile(
    r"\b(?:governments?|presidents?|prime ministers?|parliaments?|congress|ministers?|courts?|laws?|legislation|tax(?:es|ation)?"
    r"|elections?|police|central banks?|minimum wages?|unemployment|pensions?|immigration)\b"
    r"|政府|总统|总理|议会|法院|法律|法规|税|选举|警察|央行|最低工资|失业|养老金|移民",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:[Ww]orldwide|[Gg]lobal(?:ly)?|[Ii]nternational(?:ly)?|countries|nations|states|everywhere|European|American|Asian|African"
    r"|U\.?S\.?A?|U\.?K\.?|E\.?U\.?)\b|全球|世界|各国|国际|[中美英法德日俄韩]国|欧洲|亚洲|非洲"
)
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


def open_points(query: ResearchQuery) -> tuple[ClarifyingQuestion, ...]:
    """The questions that follow; none for most questions."""
    question = analyse(asked_of(query))
    asked = [PERIOD[query.language]] if _lacks_period(question, query) else []
    asked += [PLACE[query.language]] if _lacks_place(question) else []
    return tuple(ClarifyingQuestion(question=words, why=why) for words, why in asked)


def _lacks_period(question: Question, query: ResearchQuery) -> bool:
    chosen = query.scope is not None and (query.scope.published_from or query.scope.published_to)
    over_time = question.kind is QuestionKind.CHANGE or _RECENT.search(question.text)
    return bool(over_time) and not question.period and not chosen and not re.search(r"\d{4}", question.text)


def _lacks_place(question: Question) -> bool:
    return bool(_OF_A_COUNTRY.search(question.text)) and not question.names and not _PLACE.search(question.text)
