"""Times that a question calls by a name ("before the Civil War", "二战以后"), read as years where the sources are dated."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from app.domain.query import Language
from app.domain.reading import Reading
from workflows.agents.extractive.hits import Hit
from workflows.agents.extractive.period import find_period
from workflows.agents.extractive.question import Question, analyse
from workflows.agents.extractive.words import is_light

MOSTLY = 0.5
"""Where fewer of the passages found are dated, years choose between too few of them."""
_EDGES = {
    **dict.fromkeys(("before", "prior to", "preceding", "until", "up to", "leading up to"), "before"),
    **dict.fromkeys(("after", "following", "in the wake of"), "since"),
    "since": "from",
    **dict.fromkeys(("during", "throughout", "at the time of", "in the time of", "in the era of"), "within"),
}
_HAN_EDGES = {
    **dict.fromkeys(("以前", "之前", "前"), "before"),
    **dict.fromkeys(("以后", "之后", "后"), "since"),
    "以来": "from",
    **dict.fromkeys(("期间", "时期", "时"), "within"),
}
_WORDED = {
    Language.ENGLISH: {
        "before": "before {first}",
        "since": "since {last}",
        "from": "since {first}",
        "within": "from {first} to {last}",
    },
    Language.CHINESE: {
        "before": "{first}年以前",
        "since": "{last}年以后",
        "from": "{first}年以后",
        "within": "{first}年至{last}年期间",
    },
}


def era_reading(question: Question, hits: Iterable[Hit]) -> Reading | None:
    """A time the question names, with the years to read for it; None where little found is dated, or nothing else is asked for.

    What came after a war begins with its last year, whose sources speak of both; what came before ends a year before it.
    """
    match = _names_a_time().search(question.text) or _han_names_a_time().search(question.text)
    if match is None or find_period(question.text) or not _mostly_dated(hits):
        return None
    edge = _EDGES.get(" ".join(match["edge"].lower().split())) or _HAN_EDGES[match["edge"]]
    first, last = _eras()[" ".join(match["name"].lower().split())]
    reading = Reading(written=match.group(), read=_WORDED[question.language][edge].format(first=first, last=last), years=True)
    rest = analyse(question.text.replace(reading.written, " "))
    return reading if any(not is_light(term) for term in rest.subject_terms) else None


def _mostly_dated(hits: Iterable[Hit]) -> bool:
    dated = [hit.year is not None for hit in hits]
    return sum(dated) > MOSTLY * len(dated)


@cache
def _eras() -> dict[str, tuple[int, int]]:
    told = tomllib.loads(files("workflows.agents.extractive").joinpath("eras.toml").read_text(encoding="utf-8"))
    return {name: (first, last) for name, (first, last) in told.items()}


@cache
def _names_a_time() -> re.Pattern[str]:
    edges = "|".join(edge.replace(" ", r"\s+") for edge in _EDGES)
    within = r"(?:(?:start|beginning|outbreak|end|years?|decades?|time|days)\s+of\s+(?:the\s+)?)?"
    return re.compile(
        rf"\b(?:in\s+the\s+(?:years?|decades?|period|time)\s+)?(?P<edge>{edges})\s+(?:the\s+)?{within}"
        rf"(?P<name>{_names()})\b(?!['’-])",
        re.IGNORECASE,
    )


@cache
def _han_names_a_time() -> re.Pattern[str]:
    edges = "|".join(sorted(_HAN_EDGES, key=len, reverse=True))
    return re.compile(rf"在?(?P<name>{_names()})(?:爆发|结束)?(?P<edge>{edges})")


def _names() -> str:
    """The longest first, so that a name within another does not stand for it."""
    longest_first = sorted(_eras(), key=len, reverse=True)
    return "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in longest_first)
