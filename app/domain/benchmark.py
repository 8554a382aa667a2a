"""Readers' questions as candidates for a benchmark (MindDR 4.3)."""

from datetime import date
from enum import StrEnum

from pydantic import Field

from app.domain.query import Language
from app.domain.value import Value


class QuestionDomain(StrEnum):
    """The subject of a question: sixteen domains, as many as MindDR Bench has."""

    AUTOMOTIVE = "automotive"
    TRAVEL = "travel"
    TECHNOLOGY = "technology"
    SCIENCE = "science"
    FINANCE = "finance"
    BUSINESS = "business"
    LAW = "law"
    POLITICS = "politics"
    HISTORY = "history"
    CULTURE = "culture"
    EDUCATION = "education"
    HEALTH = "health"
    SPORT = "sport"
    HOME = "home"
    ENVIRONMENT = "environment"
    OTHER = "other"


class CandidateQuestion(Value):
    """A question that was asked, under a pseudonym of its run."""

    id: str
    question: str
    language: Language
    asked_on: date


class Screening(Value):
    """A model's judgement of a question, or in `missing` the reason why there is none.

    `depth` from 1 (one look-up) to 5 (a report from many sources); `self_contained`: understandable without its asker;
    `personal`: it is about a person who could be recognised.
    """

    id: str
    depth: int = Field(default=0, ge=0, le=5)
    domain: QuestionDomain = QuestionDomain.OTHER
    self_contained: bool = False
    personal: bool = False
    reason: str = ""
    model: str = ""
    missing: str = ""


class Decision(StrEnum):
    """An expert's decision on a question."""

    ACCEPT = "accept"
    REJECT = "reject"


class Review(Value):
    """One expert's review; `question` is the accepted wording, which may differ from what was asked."""

    id: str
    reviewer: str = Field(min_length=1, max_length=100)
    decision: Decision
    question: str = ""
    domain: QuestionDomain = QuestionDomain.OTHER
    note: str = ""
