"""Judging a criterion without a model: only criteria that counting decides. All others are not judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.claims import Claim, Support
from app.domain.evidence import Quote
from app.domain.query import Language
from app.domain.report import Report
from app.domain.rubric import Criterion
from app.domain.scorecard import CriterionScore
from retrieval.language.tokens import list_stems
from workflows.judging.general_rubric import SOURCES, STATEMENTS, GeneralDemand, demand_of
from workflows.judging.remarks import word_remark

OFFLINE = "offline"
ASPECT_SHARE = 0.5
STATEMENT_TERMS = 4
SHOWN_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class CriterionCount:
    """A count out of a total, the score it gives, and some of the counted sentences."""

    score: float
    n: int
    of: int
    sentences: tuple[str, ...] = ()


def judge_criterion_offline(criterion: Criterion, report: Report, language: Language) -> CriterionScore:
    """Return the criterion's score if counting the report's graded claims decides it, else the reason for none."""
    found = demand_of(criterion)
    count = COUNTS.get(found[0]) if found else None
    if found is None or count is None:
        return CriterionScore(criterion=criterion, missing=word_remark("needs_a_model", language))
    if not report.claims:
        return CriterionScore(criterion=criterion, missing=word_remark("nothing_to_judge", language))
    counted = count(report, found[1])
    if counted is None:
        return CriterionScore(criterion=criterion, missing=word_remark("nothing_to_judge", language))
    reason = word_remark(f"counted_{found[0].value}", language, n=counted.n, of=counted.of)
    return CriterionScore(
        criterion=criterion, score=round(counted.score, 4), reason=reason, sentences=counted.sentences, judge=OFFLINE
    )


def _count_cited(report: Report, _: str) -> CriterionCount | None:
    """Count the statements that cite. A name or date in a table cell labels its row; it is no statement that needs a source."""
    said = [claim for claim in report.claims if claim.quote_keys or len(list_stems(claim.text)) >= STATEMENT_TERMS]
    bare = [claim for claim in said if claim.support is Support.UNCITED]
    n = len(said) - len(bare)
    return CriterionCount(n / len(said), n, len(said), _sentences_of(bare)) if said else None


def _count_on_aspect(report: Report, what: str) -> CriterionCount:
    wanted = frozenset(list_stems(what))
    on_it = [
        claim
        for claim in _list_cited(report)
        if wanted and len(wanted & set(list_stems(claim.text))) >= ASPECT_SHARE * len(wanted)
    ]
    return CriterionCount(min(len(on_it), STATEMENTS) / STATEMENTS, len(on_it), STATEMENTS, _sentences_of(on_it))


def _count_supported(report: Report, _: str) -> CriterionCount | None:
    cited = _list_cited(report)
    lacking = [claim for claim in cited if not claim.support.holds]
    return (
        CriterionCount(1 - len(lacking) / len(cited), len(cited) - len(lacking), len(cited), _sentences_of(lacking))
        if cited
        else None
    )


def _count_sources(report: Report, _: str) -> CriterionCount:
    n = len({quote.source.url for quote in _list_cited_quotes(report)})
    return CriterionCount(min(n, SOURCES) / SOURCES, n, SOURCES)


def _count_in_period(report: Report, years: str) -> CriterionCount | None:
    first, _, last = years.partition("-")
    dated = [quote for quote in _list_cited_quotes(report) if quote.source.published]
    within = [q for q in dated if int(first or 0) <= q.source.published.year <= int(last or 9999)]  # type: ignore[union-attr]
    return CriterionCount(len(within) / len(dated), len(within), len(dated)) if dated else None


def _count_opposed(report: Report, _: str) -> CriterionCount:
    opposed = [claim for claim in report.claims if claim.support is Support.CONTRADICTED]
    return CriterionCount(float(bool(opposed)), len(opposed), len(report.claims), _sentences_of(opposed))


COUNTS: Mapping[GeneralDemand, Callable[[Report, str], CriterionCount | None]] = {
    GeneralDemand.CITES: _count_cited,
    GeneralDemand.ASPECT: _count_on_aspect,
    GeneralDemand.SUPPORT: _count_supported,
    GeneralDemand.SOURCES: _count_sources,
    GeneralDemand.PERIOD: _count_in_period,
    GeneralDemand.OPPOSED: _count_opposed,
}


def _list_cited(report: Report) -> list[Claim]:
    return [claim for claim in report.claims if claim.quote_keys]


def _list_cited_quotes(report: Report) -> list[Quote]:
    cited = {key for claim in report.claims for key in claim.quote_keys}
    return [quote for quote in report.quotes if quote.key in cited]


def _sentences_of(claims: Sequence[Claim]) -> tuple[str, ...]:
    return tuple(claim.text for claim in claims[:SHOWN_SENTENCES])
