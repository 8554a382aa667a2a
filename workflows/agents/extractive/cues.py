"""Words by which a sentence shows that it makes the kind of statement a question asks for."""

import re

from workflows.agents.extractive.question import QuestionKind

STRONG_SHARE, WEAK_SHARE = 0.25, 0.08
MOST_STRONG = 2


def _pattern(alternatives: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternatives})\b|{chinese}", re.IGNORECASE)


_REASONS = _pattern(
    r"because|in order (?:to|that)|so that|so as to|for the purpose|for the reason|with a view|by reason of|owing to"
    r"|on account of|on the ground|due to"
    r"|justif(?:y|ies|ied)|object of|purpose of|protect(?:s|ed|ing|ion)?(?! of the laws?)|encourag\w+|foster\w*|promot\w+"
    r"|essential|benefits?|beneficial|advantages?|advantageous|indispensable|caused|led to|resulted in|enables?",
    "因为|由于|为了|导致|原因|目的|必要|保护",
)
_OBJECTIONS = _pattern(
    r"unconstitutional\w*|constitutionality|danger\w*|evils?|abuses?|monopol\w+|against|objections?|objectionable|oppos\w+"
    r"|inexpedien\w+|expediency"
    r"|injur\w+|corrupt\w*|fail(?:ed|s|ure)|oppress\w*|unjust\w*|unequal\w*|privileges?|partial\w*|burdens?|threat\w*|illegal"
    r"|improper|wrong\w*"
    r"|mischie\w+|faithless|liberties|unwarranted|not authorized|disapprov\w+|veto\w*|refus\w+|reject\w*|deprive\w*|violat\w+"
    r"|meddl\w+|agitat\w+"
    r"|perver\w+|usurp\w+|hostil\w+|deceiv\w+|distress\w*|ruin\w*",
    "危险|反对|违宪|弊端|损害|垄断|滥用",
)
_COURSE = _pattern(
    r"no longer|formerly|hitherto|until now|increas\w+|decreas\w+|changed?|changes|growing|for the first time|recently"
    r"|never before|reform\w*"
    r"|restrict\w*|prohibit\w*|welcome\w*|amend\w*|new policy|of late years|in recent years|today",
    "不再|从前|如今|首次|越来越|改革|近年",
)
_STATEMENTS = _pattern(
    r"believe|in my (?:opinion|judgment)|i recommend|i urge|i propose|convinced|important|necessary|hope|confident|unwise"
    r"|wise|duty|policy",
    "应当|应该|认为|必须|建议|相信",
)
_URGES = _pattern(r"should|must|ought|shall|need|therefore", "应|须|因此")
_STRONG = {
    QuestionKind.WHY: _REASONS,
    QuestionKind.AGAINST: _OBJECTIONS,
    QuestionKind.CHANGE: _COURSE,
    QuestionKind.VIEWS: _STATEMENTS,
    QuestionKind.COMPARE: _STATEMENTS,
}


_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_ANSWERS = (
    (_pattern(r"how (?:many|much)|cost|population|number|percent\w*|price|amount", "多少|几"), re.compile(r"\d")),
    (
        _pattern(r"when|(?:what|which) (?:year|date)|how old", "何时|哪年|什么时候"),
        re.compile(rf"\b(?:1\d{{3}}|20\d\d|century|\d{{1,2}} (?:{_MONTHS})|(?:{_MONTHS}) \d{{1,2}})\b|年"),
    ),
)
"""What a question of a kind asks for, and what a sentence that answers it has to hold."""
ANSWER_SHARE = 0.15


def answer_cue(question: str, text: str) -> float:
    """What a sentence earns for holding a figure where a figure is asked for, or a date where a date is."""
    return ANSWER_SHARE * any(asks.search(question) is not None and holds.search(text) is not None for asks, holds in _ANSWERS)


def can_answer(question: str, text: str) -> bool:
    """Whether a sentence has the figure or the date that a question begins by asking for; any sentence where it asks for none."""
    return all(asks.match(question) is None or holds.search(text) is not None for asks, holds in _ANSWERS)


def cue(kind: QuestionKind, text: str) -> float:
    """What a sentence earns by its cue words, from 0 to about 0.6; nothing when the question asks for a plain fact."""
    strong = _STRONG.get(kind)
    if strong is None:
        return 0.0
    found = len({match.group().lower() for match in strong.finditer(text)})
    return STRONG_SHARE * min(MOST_STRONG, found) + (WEAK_SHARE if _URGES.search(text) else 0.0)


def makes_case(kind: QuestionKind, text: str) -> bool:
    """Whether a sentence gives a reason or an objection, where the question asks for such; any sentence where it does not."""
    return kind not in (QuestionKind.WHY, QuestionKind.AGAINST) or _STRONG[kind].search(text) is not None
