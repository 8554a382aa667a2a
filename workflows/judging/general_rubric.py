"""A rubric without a model: general demands, and one for each aspect of the question or its plan. Its notice says so.

A demand that can be counted is worded so that counting decides it: `offline_criteria` recognises these words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.domain.query import Language, ResearchQuery, detect_language
from app.domain.rubric import Criterion, Origin, Rubric
from retrieval.language.tokens import split_words
from retrieval.language.years import find_years

MAX_ASPECTS = 5
ASPECT_CHARS = 80
STATEMENTS = 3
SOURCES = 5
_NAME = re.compile(r"(?<!^)\b[A-Z][\w'’-]*(?:\s+(?:of|the|de|von|van)(?=\s+[A-Z])|\s+[A-Z][\w'’-]*)*")
_STOPS = re.compile(r"[.!?:;\"“”‘’{}。！？：；「」『』\s]+")
EN, ZH = Language.ENGLISH, Language.CHINESE


class GeneralDemand(StrEnum):
    """The demand of a general criterion."""

    ANSWER = "answer"
    CITES = "cites"
    ASPECT = "aspect"
    SUPPORT = "support"
    REASONS = "reasons"
    SOURCES = "sources"
    PERIOD = "period"
    GAPS = "gaps"
    OPPOSED = "opposed"


@dataclass(frozen=True, slots=True)
class CriterionTemplate:
    """The wording of a criterion in one language; `{what}` is an aspect or a period."""

    title: str
    description: str

    def make_criterion(self, weight: int, what: str = "") -> Criterion:
        """Return the criterion for this aspect or period."""
        return Criterion(title=self.title.format(what=what), description=self.description.format(what=what), weight=weight)


WEIGHTS = {
    GeneralDemand.ANSWER: 5,
    GeneralDemand.CITES: 5,
    GeneralDemand.ASPECT: 4,
    GeneralDemand.SUPPORT: 4,
    GeneralDemand.REASONS: 3,
    GeneralDemand.SOURCES: 3,
    GeneralDemand.PERIOD: 3,
    GeneralDemand.GAPS: 1,
    GeneralDemand.OPPOSED: -2,
}
TEMPLATES: dict[Language, dict[GeneralDemand, CriterionTemplate]] = {
    EN: {
        GeneralDemand.ANSWER: CriterionTemplate(
            "Direct answer", "Key Criterion: Opens with a direct answer to the question that was asked."
        ),
        GeneralDemand.CITES: CriterionTemplate(
            "Cited statements", "Key Criterion: Cites a source for each of its statements of fact."
        ),
        GeneralDemand.ASPECT: CriterionTemplate(
            "On {what}", f"Important Criterion: Has at least {STATEMENTS} statements on ‘{{what}}’ that cite a source."
        ),
        GeneralDemand.SUPPORT: CriterionTemplate(
            "Supported statements", "Important Criterion: Rests its cited statements on passages that support them in full."
        ),
        GeneralDemand.REASONS: CriterionTemplate(
            "Reasoning", "Important Criterion: Explains the reasons behind its main points and connects them."
        ),
        GeneralDemand.SOURCES: CriterionTemplate(
            "Several sources", f"Important Criterion: Cites at least {SOURCES} different sources."
        ),
        GeneralDemand.PERIOD: CriterionTemplate(
            "The period asked for", "Important Criterion: Cites only sources of the period {what}."
        ),
        GeneralDemand.GAPS: CriterionTemplate(
            "Limits named", "Optional Criterion: Says what the sources do not cover or do not agree on."
        ),
        GeneralDemand.OPPOSED: CriterionTemplate(
            "Opposed statements", "Error Criterion: Has statements that are opposed by the passages they cite."
        ),
    },
    ZH: {
        GeneralDemand.ANSWER: CriterionTemplate("直接回答", "关键标准：开头就直接回答所提的问题。"),
        GeneralDemand.CITES: CriterionTemplate("注明出处", "关键标准：每个事实陈述都注明来源。"),
        GeneralDemand.ASPECT: CriterionTemplate("关于{what}", f"重要标准：关于‘{{what}}’至少有{STATEMENTS}条注明来源的陈述。"),
        GeneralDemand.SUPPORT: CriterionTemplate("陈述有据", "重要标准：注明来源的陈述均得到所引段落的充分支持。"),
        GeneralDemand.REASONS: CriterionTemplate("说明理由", "重要标准：说明主要观点的理由，并把它们联系起来。"),
        GeneralDemand.SOURCES: CriterionTemplate("多个来源", f"重要标准：至少引用{SOURCES}个不同的来源。"),
        GeneralDemand.PERIOD: CriterionTemplate("所问时期", "重要标准：只引用{what}这一时期的来源。"),
        GeneralDemand.GAPS: CriterionTemplate("说明局限", "可选标准：说明资料未涵盖之处或彼此不一致之处。"),
        GeneralDemand.OPPOSED: CriterionTemplate("与来源相悖", "错误标准：含有与所引段落相悖的陈述。"),
    },
}
NOTICE = {
    EN: "Made without a language model: general demands on any report, and the aspects that the question or its plan names.",
    ZH: "未使用语言模型生成：包含对任何报告的一般要求，以及问题或计划中提到的方面。",
}


def make_general_rubric(query: ResearchQuery, parts: Sequence[str] = ()) -> Rubric:
    """Return the rubric for a question; `parts` are the titles of its plan, if there is one."""
    question = query.full_question
    templates = TEMPLATES[query.language]

    def make(demand: GeneralDemand, what: str = "") -> Criterion:
        return templates[demand].make_criterion(WEIGHTS[demand], what)

    criteria = [make(GeneralDemand.ANSWER), make(GeneralDemand.CITES)]
    criteria += [make(GeneralDemand.ASPECT, aspect) for aspect in aspects_of(question, parts)]
    criteria += [make(GeneralDemand.SUPPORT), make(GeneralDemand.REASONS), make(GeneralDemand.SOURCES)]
    criteria += [make(GeneralDemand.PERIOD, period)] if (period := period_of(question)) else []
    criteria += [make(GeneralDemand.GAPS), make(GeneralDemand.OPPOSED)]
    return Rubric(criteria=tuple(criteria), origin=Origin.GENERAL, notice=NOTICE[query.language])


def aspects_of(question: str, parts: Sequence[str]) -> list[str]:
    """Return what a report has to cover: the plan's parts, or the names in the question, or else its words."""
    named = [*parts] if len(parts) > 1 else _NAME.findall(question)
    words = (
        question if detect_language(question) is Language.CHINESE else " ".join(w.text for w in split_words(question) if w.stem)
    )
    plain = [_to_plain(aspect) for aspect in (named or [words])]
    return list(dict.fromkeys(aspect for aspect in plain if aspect))[:MAX_ASPECTS]


def period_of(question: str) -> str:
    """Return the years asked about, as `1850-1899`, `1850-` or `-1899`; empty when the question names none."""
    years = find_years(question)
    return f"{years.first or ''}-{years.last or ''}" if years else ""


def _to_plain(aspect: str) -> str:
    """Return an aspect without characters that would end the sentence around it."""
    return _STOPS.sub(" ", aspect).strip()[:ASPECT_CHARS].strip()


def demand_of(criterion: Criterion) -> tuple[GeneralDemand, str] | None:
    """Return the general demand that a criterion states word for word, and its aspect or period; None for other criteria."""
    for templates in TEMPLATES.values():
        for demand, template in templates.items():
            before, has_place, after = template.description.partition("{what}")
            said = criterion.description
            if said == template.description:
                return demand, ""
            if has_place and said.startswith(before) and said.endswith(after) and len(said) > len(before) + len(after):
                return demand, said[len(before) : len(said) - len(after)]
    return None
