"""The kinds of questions: what an answer would look like, read off a question's wording."""

import re
from enum import StrEnum


class QuestionKind(StrEnum):
    """What an answer would look like.

    `WHY` wants reasons, `FOR` and `AGAINST` those of one side, `CHANGE` a course over time, `COMPARE` sides, `VIEWS` statements.
    """

    WHY = "why"
    FOR = "for"
    AGAINST = "against"
    CHANGE = "change"
    COMPARE = "compare"
    VIEWS = "views"
    FACT = "fact"


ARGUED = (QuestionKind.WHY, QuestionKind.FOR, QuestionKind.AGAINST)
"""Kinds that want reasons, on whichever side."""
_CHANGE = re.compile(
    r"\bhow\b(?! (?:many|much|long|old|far)\b).*\b(?:(?<!climate )(?<!regime )chang|evolv"
    r"|shift|develop|differ|var(?:y|ied))|\bover time\b"
    r"|\bevolution of\b|\bhistory of\b|\btimeline\b"
    r"|变化|演变|变迁|历史|发展",
    re.IGNORECASE,
)
_COMPARE = re.compile(
    r"\b(?:compare|contrast|versus|vs\.?|differences? between|differs? from|better than|worse than)\b|比较|区别|差异",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"\bwhy\b|\b(?:reasons?|causes?|justif\w+|motiv\w+|rationale)\b|为什么|为何|原因|理由"
    r"|^\W*how (?:did|do|does|has|have)\b.*\b(?:explain|account for)\b",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:oppos\w+|against|critici\w+|object(?:ed|ions?)|reject\w*|resist\w*|attack\w*|condemn\w*|unpopular|dangers?"
    r"|harm\w*)\b|反对|批评|危害",
    re.IGNORECASE,
)
_FOR = re.compile(
    r"\b(?:justif\w+|defend\w*|in favou?r of|favou?red|support(?:ed)?|(?:arguments?|case|reasons?) for)\b|支持|辩护",
    re.IGNORECASE,
)
_BOTH_SIDES = re.compile(
    r"\bfor (?:and|or) against\b|\bpros and cons\b|\b(?:support\w*|favou?r\w*) (?:and|or) (?:oppos|reject)"
    r"|\b(?:oppos\w+|reject\w*) (?:and|or) (?:support|favou?r)|利弊|支持.{0,4}反对|反对.{0,4}支持",
    re.IGNORECASE,
)
"""Reasons against are asked for, and reasons for as much."""
_VIEWS = re.compile(
    r"\bwhat (?:did|do|does|has|have)\b.*\b(?:say|said|think|believe|argue|write|propose|promise)\b|\b(?:views?|opinions?"
    r"|attitudes?) (?:of|on)\b|\b(?:arguments?|debates?|case) (?:for|against|about|over|on)\b"
    r"|\bwhat (?:[\w'’-]+ ){1,4}(?:said|thought|believed|wrote|argued)\b"
    r"|\bpros and cons\b|\badvantages (?:and|or) disadvantages\b|看法|观点|态度|说了",
    re.IGNORECASE,
)
_THINKS = r"(?:view|regard|see|think|feel|react|respond|look)(?:s|ed)?|saw|thought|felt"
_SPEAKS = (
    r"(?:describe|portray|depict|characteri[sz]e|handle|tackle)[sd]?|(?:address|approach)(?:ed)?|(?:deal|dealt|cope|coped) with"
    r"|(?:speak|talk|write|spoke|wrote) (?:of|about)"
)
_HOW_VIEWED = re.compile(
    rf"\bhow\b(?: (?:did|do|does|has|have|should))?(?: [\w.'’-]+){{1,4}}? (?:{_THINKS}|{_SPEAKS})\b|如何(?:看待|描述|评价)",
    re.IGNORECASE,
)
_WHO_SPOKE = re.compile(
    r"^\W*who (?:argued|spoke|was|were|has|had)?\b ?(?:oppos|against|support|favou?r|criticis|criticiz|object)", re.IGNORECASE
)
_WHICH_ACTED = re.compile(
    r"^\W*(?:which|what) (?:(?:other|american|u\.s\.|us|early|recent|later) )*(?:presidents|leaders|politicians|statesmen|authors"
    r"|writers|scholars|scientists|researchers|studies|sources|speakers) (?!(?:were|was|are|is|died|lived)\b)\w+",
    re.IGNORECASE,
)
"""Who of those that speak in the sources did something: what each of them said is the answer."""
_WHETHER_SAID = re.compile(
    r"^\W*(?:did|do|does|has|have|whether) (?:any|a|the|some|many|most)? ?[\w'’-]+ (?:ever )?"
    r"(?:mention(?:ed)?|discuss(?:ed)?|address(?:ed)?|(?:speak|spoken|talk|talked|say|said|warn|warned|write|written)\b.*?\b"
    r"(?:about|of|on))\b",
    re.IGNORECASE,
)
"""Answered best by what was said."""
_OPEN = re.compile(
    r"^\s*(?:how (?:did|do|does|has|have|is|are|was|were|can|could|should|would)\b|why\b"
    r"|(?:what|which)(?: reasons?| arguments?| grounds| views?| opinions?)? (?:did|do|does|has|have)\b)",
    re.IGNORECASE,
)


_TOPIC = re.compile(
    r"^(?!.*[?？])(?!.*\b(?:who|whose|whom|what|which|when|where|why|how|is|are|was|were|did|do|does|has|have|had|can|could|will"
    r"|would|should|must|if)\b)\W*(?:[^\W_][\w'’.,-]*\W+){0,11}[\w'’-]+\W*$",
    re.IGNORECASE,
)
"""A few words that ask nothing and state nothing: a thing to be told about."""


def is_topic(text: str) -> bool:
    """Whether a text only names what is to be told about ("The gold standard in the 1890s"), in a language with blanks."""
    return text.isascii() and _TOPIC.match(text.strip()) is not None


def kind_of(text: str) -> QuestionKind:
    """The kind of a question."""
    for pattern, kind in (
        (_COMPARE, QuestionKind.COMPARE),
        (_CHANGE, QuestionKind.CHANGE),
        (_WHY, QuestionKind.WHY),
        (_VIEWS, QuestionKind.VIEWS),
        (_HOW_VIEWED, QuestionKind.VIEWS),
        (_WHO_SPOKE, QuestionKind.VIEWS),
        (_WHICH_ACTED, QuestionKind.VIEWS),
        (_WHETHER_SAID, QuestionKind.VIEWS),
    ):
        if pattern.search(text):
            return _sided(kind, text)
    return QuestionKind.VIEWS if is_topic(text) else QuestionKind.FACT


def _sided(kind: QuestionKind, text: str) -> QuestionKind:
    """The kind with the side that a question for reasons or views is on, if it is on one."""
    if kind not in (QuestionKind.WHY, QuestionKind.VIEWS) or _BOTH_SIDES.search(text):
        return kind
    if _AGAINST.search(text):
        return QuestionKind.AGAINST
    return QuestionKind.FOR if kind is QuestionKind.WHY and _FOR.search(text) else kind


def asks_who(text: str) -> bool:
    """Whether a question asks who of those that speak in the sources did or said something."""
    return _WHICH_ACTED.match(text) is not None or _WHO_SPOKE.match(text) is not None


def is_open(text: str) -> bool:
    """Whether a question begins as one that asks for more than one fact: how something was done, why, what somebody said."""
    return any(pattern.match(text) for pattern in (_OPEN, _HOW_VIEWED, _WHO_SPOKE, _WHICH_ACTED, _WHETHER_SAID))
