"""The check of a report against its rubric: it is judged, revised once if it fails, and delivered with its scorecard."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.rubric import Category, Rubric
from app.domain.scorecard import CriterionScore, Scorecard, scorecard_of
from workflows.agents.kit import Kit
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.report_revision import ReportLack, revise_report
from workflows.judging.criterion_judge import has_sentence, judge_criteria
from workflows.judging.offline_criteria import judge_criterion_offline

SECOND_TURN = "/again"


@dataclass(frozen=True, slots=True)
class CheckedReport:
    """A report after the check-and-revise pass, the scores before it, and the criteria for which it was revised."""

    report: Report
    scores: tuple[CriterionScore, ...] = ()
    revised: tuple[str, ...] = ()


async def check_against_rubric(
    rubric: Rubric, report: Report, query: ResearchQuery, judge: Kit, desk: ReportDesk | None
) -> CheckedReport:
    """Judge the report; send it back to its writer once for the failed criteria. Without a `desk` there is no writer."""
    read = [passage for finding in desk.findings for passage in finding.passages] if desk else []
    scores = await judge_criteria(rubric.criteria, query.question, report, judge, passages=read)
    failing = [score for score in scores if score.fails]
    if not failing or desk is None:
        return CheckedReport(report, tuple(scores))
    lacks = [ReportLack(s.criterion.demand, s.reason, s.criterion.category is Category.ERROR) for s in failing]
    better = await revise_report(report, lacks, desk)
    revised = tuple(score.criterion.title for score in failing) if better is not report else ()
    return CheckedReport(better, tuple(scores), revised)


async def make_scorecard(rubric: Rubric, checked: CheckedReport, final: Report, query: ResearchQuery, judge: Kit) -> Scorecard:
    """Return the scorecard of the final report; criteria whose score may have changed are judged again.

    These are the criteria that failed before a revision, and those that rested on sentences that are gone. Criteria that no model
    could judge are decided by counting where that is possible.
    """
    scores = list(checked.scores)
    again = [place for place, score in enumerate(scores) if _is_outdated(score, checked, final)]
    criteria = [rubric.criteria[place] for place in again]
    for place, score in zip(again, await judge_criteria(criteria, query.question, final, judge, SECOND_TURN), strict=True):
        scores[place] = score
    return scorecard_of(_count_missing(scores, final, query), checked.revised)


def make_offline_scorecard(rubric: Rubric, final: Report, query: ResearchQuery) -> Scorecard:
    """Return the scorecard without a model: counting decides some criteria; the others are not judged."""
    return scorecard_of([judge_criterion_offline(criterion, final, query.language) for criterion in rubric.criteria])


def _is_outdated(score: CriterionScore, checked: CheckedReport, final: Report) -> bool:
    if score.score is None:
        return False
    gone = not all(has_sentence(final, sentence) for sentence in score.sentences)
    return gone or (bool(checked.revised) and score.fails)


def _count_missing(scores: Sequence[CriterionScore], final: Report, query: ResearchQuery) -> list[CriterionScore]:
    """Count the criteria that a model failed to judge; where that is not possible, the model's reason stays."""
    counted = [judge_criterion_offline(s.criterion, final, query.language) if s.score is None else s for s in scores]
    return [score if score.score is not None else before for score, before in zip(counted, scores, strict=True)]
