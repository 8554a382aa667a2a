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
from workflows.judging.general_rubric import SOURCES, STATEMENTS, Demand, demand_of
from workflows.judging.remarks import remark

OFFLINE = "offline"
ASPECT_SHARE = 0.5
STATEMENT_TERMS = 4
SHOWN_SENTENCES = 3


@dataclass(frozen=True, slots=True)
class Counted:
    """A count out of a total, the score it gives, and some of the counted sentences."""

    score: float
    n: int
    of: int
    sentences: tuple[str, ...] = ()


def judged_offline(criterion: Criterion, report: Report, language: Language) -> CriterionScore:
    """Return the criterion's score if counting the report's graded claims decides it, else the reason for none."""
    found = demand_of(criterion)
    count = COUNTS.get(found[0]) if found else None
    if found is None or count is None:
        return CriterionScore(criterion=criterion, missing=remark("needs_a_model", language))
    if not report.claims:
        return CriterionScore(criterion=criterion, missing=remark("nothing_to_judge", language))
    counted = count(report, found[1])
    if counted is None:
        return CriterionScore(criterion=criterion, missing=remark("nothing_to_judge", language))
    reason = remark(f"counted_{found[0].value}", language, n=counted.n, of=counted.of)
    return CriterionScore(
        criterion=criterion, score=round(counted.score, 4), reason=reason, sentences=counted.sentences, judge=OFFLINE
    )


def _cites(report: Report, _: str) -> Counted | None:
    """Count the statements that cite. A name or date in a table cell labels its row; it is no statement that needs a source."""
    said = [claim for claim in report.claims if claim.quote_keys or len(list_stems(claim.text)) >= STATEMENT_TERMS]
    bare = [claim for claim in said if claim.support is Support.UNCITED]
    n = len(said) - len(bare)
    return Counted(n / len(said), n, len(said), _shown(bare)) if said else None


def _aspect(report: Report, what: str) -> Counted:
    wanted = frozenset(list_stems(what))
    on_it = [
        claim for claim in _cited(report) if wanted and len(wanted & set(list_stems(claim.text))) >= ASPECT_SHARE * len(wanted)
    ]
    return Counted(min(len(on_it), STATEMENTS) / STATEMENTS, len(on_it), STATEMENTS, _shown(on_it))


def _support(report: Report, _: str) -> Counted | None:
    cited = _cited(report)
    lacking = [claim for claim in cited if not claim.support.holds]
    return Counted(1 - len(lacking) / len(cited), len(cited) - len(lacking), len(cited), _shown(lacking)) if cited else None


def _sources(report: Report, _: str) -> Counted:
    n = len({quote.source.url for quote in _quotes(report)})
    return Counted(min(n, SOURCES) / SOURCES, n, SOURCES)


def _period(report: Report, years: str) -> Counted | None:
    first, _, last = years.partition("-")
    dated = [quote for quote in _quotes(report) if quote.source.published]
    within = [q for q in dated if int(first or 0) <= q.source.published.year <= int(last or 9999)]  # type: ignore[union-attr]
    return Counted(len(within) / len(dated), len(within), len(dated)) if dated else None


def _opposed(report: Report, _: str) -> Counted:
    opposed = [claim for claim in report.claims if claim.support is Support.CONTRADICTED]
    return Counted(float(bool(opposed)), len(opposed), len(report.claims), _shown(opposed))


COUNTS: Mapping[Demand, Callable[[Report, str], Counted | None]] = {
    Demand.CITES: _cites,
    Demand.ASPECT: _aspect,
    Demand.SUPPORT: _support,
    Demand.SOURCES: _sources,
    Demand.PERIOD: _period,
    Demand.OPPOSED: _opposed,
}


def _cited(report: Report) -> list[Claim]:
    return [claim for claim in report.claims if claim.quote_keys]


def _quotes(report: Report) -> list[Quote]:
    cited = {key for claim in report.claims for key in claim.quote_keys}
    return [quote for quote in report.quotes if quote.key in cited]


def _shown(claims: Sequence[Claim]) -> tuple[str, ...]:
    return tuple(claim.text for claim in claims[:SHOWN_SENTENCES])
