"""What a question leaves open by its very wording: a course over time without a period, an office or a law without a country."""

import re

from app.domain.contract import ClarifyingQuestion
from app.domain.query import Language, ResearchQuery
from retrieval.language.years import find_years

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
