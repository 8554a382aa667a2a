"""Words by which a sentence shows that it makes the kind of statement a question asks for."""

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache

from workflows.agents.extractive.kinds import ARGUED, QuestionKind
from workflows.agents.extractive.words import words

STRONG_SHARE, WEAK_SHARE = 0.25, 0.08
MOST_STRONG = 2
HALF = 0.5
NEAR = 60
"""Characters from a word of the subject within which a cue is about it: "the war, because"."""
FAR_SHARE = 0.4
"""What a cue further off counts."""


def _pattern(alternatives: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{alternatives})\b|{chinese}", re.IGNORECASE)


_CAUSES = _pattern(
    r"because|in order (?:to|that)|so that|so as to|reasons?|by reason of|owing to|on account of|on the ground|due to"
    r"|in defen[cs]e of|in self-defen[cs]e|compelled|justif(?:y|ies|ied|ication)|caus(?:ed?|es)|led to|resulted in",
    "因为|由于|为了|导致|原因|目的",
)
"""Words that give a reason."""
_PURPOSES = _pattern(
    r"protect(?:s|ed|ing|ion)?(?! of the laws?)|encourag\w+|foster\w*|promot\w+"
    r"|essential|benefits?|beneficial|advantages?|advantageous|indispensable|enables?",
    "必要|保护",
)
"""Words of what something is good for."""
_GROUNDS = _pattern(
    r"because|in order (?:to|that)|so that|so as to|justif(?:y|ies|ied|ication)|necessary|in favou?r of", "因为|为了|应当"
)
"""Words by which something is stood up for."""
_OBJECTIONS = _pattern(
    r"unconstitutional\w*|constitutionality|danger\w*|evils?|abuses?|monopol\w+|against|objections?|objectionable|oppos\w+"
    r"|inexpedien\w+|expediency"
    r"|injur\w+|corrupt\w*|fail(?:ed|s|ure)|oppress\w*|unjust\w*|unequal\w*|privileges?|partial\w*|burdens?|threat\w*|illegal"
    r"|improper|wrong\w*"
    r"|mischie\w+|faithless|liberties|unwarranted|not authorized|disapprov\w+|veto\w*|refus\w+|reject\w*|deprive\w*|violat\w+"
    r"|meddl\w+|agitat\w+|dissatisf\w+|suffer\w*|embarrass\w*"
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
_NOTHING = re.compile(r"(?!)")
_CUES = {
    QuestionKind.WHY: (_CAUSES, _PURPOSES),
    QuestionKind.FOR: (_PURPOSES, _GROUNDS),
    QuestionKind.AGAINST: (_OBJECTIONS, _NOTHING),
    QuestionKind.CHANGE: (_COURSE, _NOTHING),
    QuestionKind.VIEWS: (_STATEMENTS, _NOTHING),
    QuestionKind.COMPARE: (_STATEMENTS, _NOTHING),
}
"""The cues of each kind of question: those that count in full, and those that count half."""


_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_NUMBERS = (
    "two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|hundreds?|thousands?|millions?|half"
)
_ANSWERS = (
    (
        _pattern(r"how (?:many|much)|cost|population|number|percent\w*|price|amount", "多少|几"),
        re.compile(rf"\d|\b(?:{_NUMBERS})\b", re.IGNORECASE),
    ),
    (
        _pattern(r"when|(?:what|which) (?:year|date)|how old", "何时|哪年|什么时候"),
        re.compile(rf"\b(?:1\d{{3}}|20\d\d|century|\d{{1,2}} (?:{_MONTHS})|(?:{_MONTHS}) \d{{1,2}})\b|年"),
    ),
)
"""What a question of a kind asks for, and what a sentence that answers it has to hold."""
ANSWER_SHARE, DEFINES_SHARE = 0.15, 0.4
_WHAT_IS = re.compile(r"^\W*what (?:is|are|was|were) (?:an? |the )?(?P<noun>[\w'’-]+(?: [\w'’-]+){0,3}?)\W*$", re.IGNORECASE)


def answer_cue(question: str, text: str) -> float:
    """What a sentence earns for holding a figure where a figure is asked for, a date where a date is, for saying what a thing is
    where that is all that is asked."""
    defines = _defining(question)
    share = DEFINES_SHARE if defines is not None and defines.search(text) else 0.0
    told = _beyond(question, text)
    return share + ANSWER_SHARE * any(asks.search(question) and holds.search(told) for asks, holds in _ANSWERS)


@lru_cache(maxsize=256)
def _defining(question: str) -> re.Pattern[str] | None:
    """What a sentence holds that says what the thing of a question is; None where it asks for something else."""
    asked = _WHAT_IS.match(question)
    if asked is None:
        return None
    verb = (
        r"(?:is|are|was|were) (?:an? |the |that |any |not |to |one |defined)"
        r"|(?:means|meant|asserts?|declares?|declared|consists?|refers?)\b"
    )
    return re.compile(rf"\b{re.escape(asked['noun'])}(?:s|es)?\b(?:,[^,]+,| \([^()]+\))? (?:{verb})", re.IGNORECASE)


def can_answer(question: str, text: str) -> bool:
    """Whether a sentence has the figure or the date that a question begins by asking for; any sentence where it asks for none."""
    told = _beyond(question, text)
    return all(asks.match(question) is None or holds.search(told) is not None for asks, holds in _ANSWERS)


def _beyond(question: str, text: str) -> str:
    """A text without the figures that the question has: "the act of 1850" does not say how many there were in 1850."""
    figures = _figures(question)
    return figures.sub(" ", text) if figures else text


@lru_cache(maxsize=256)
def _figures(question: str) -> re.Pattern[str] | None:
    found = sorted(set(re.findall(r"\d+", question)))
    return re.compile(rf"(?<!\d)(?:{'|'.join(found)})(?!\d)") if found else None


def cue(kind: QuestionKind, text: str, subject: AbstractSet[str]) -> float:
    """What a sentence earns by its cue words, from 0 to about 0.6; nothing when the question asks for a plain fact.

    A cue counts in full beside a word of the subject (terms), and little far from one.
    """
    patterns = _CUES.get(kind)
    if patterns is None:
        return 0.0
    places = [word.start for word in words(text) if word.term in subject]
    weights: dict[str, float] = {}
    for pattern, worth in zip(patterns, (1.0, HALF), strict=True):
        for match in pattern.finditer(text):
            near = any(abs(match.start() - place) <= NEAR for place in places)
            weights[match.group().lower()] = max(worth * (1.0 if near else FAR_SHARE), weights.get(match.group().lower(), 0.0))
    count = min(MOST_STRONG, sum(weights.values()))
    return STRONG_SHARE * count + (WEAK_SHARE if _URGES.search(text) else 0.0)


def makes_case(kind: QuestionKind, text: str) -> bool:
    """Whether a sentence gives a reason or an objection, where the question asks for such; any sentence where it does not."""
    if kind not in ARGUED:
        return True
    found = sum(len(pattern.findall(text)) for pattern in _CUES[kind])
    return found > (len(_OBJECTIONS.findall(text)) if kind is QuestionKind.FOR else 0)
