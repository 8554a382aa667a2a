"""RACE, the report score of DeepResearch Bench (MindDR 8.3): it compares a report with a reference report by criterion.

A judge gives both reports 0 to 10 for every criterion. The scores are averaged within a dimension by the criteria's weights, and
then over the dimensions by theirs. The RACE score is the report's share of the sum of both averages. `official` follows the
benchmark's own script: it drops criteria without a score and matches names loosely. In the strict way an unscored criterion
makes the score missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.missing import Missing
from app.domain.race_rubric import RaceCriterion, RaceDimension, RaceRubric
from training.rewards.score import require_present

LEAST_SCORE, MOST_SCORE = 0.0, 10.0


@dataclass(frozen=True, slots=True)
class JudgedCriterion:
    """The points that a judge gave the report and the reference for one criterion."""

    criterion: str
    report: float
    reference: float


Judgement = Mapping[RaceDimension, Sequence[JudgedCriterion]]


@dataclass(frozen=True, slots=True)
class RaceScore:
    """The scores of a report, each from 0 to 1; 0.5 is as good as the reference."""

    dimensions: Mapping[RaceDimension, float]
    overall: float


@dataclass(frozen=True, slots=True)
class _Averages:
    """The averages of report and reference, 0 to 10."""

    report: float
    reference: float

    def share(self, official: bool) -> float:
        """Return the report's share. Two reports without any points are equal (0.5); the official script gives 0."""
        total = self.report + self.reference
        return self.report / total if total else (0.0 if official else 0.5)


def race_score(criteria: RaceRubric, judgement: Judgement, official: bool = False) -> RaceScore | Missing:
    """Return the score of one report.

    Raises:
        ValueError: a score is outside 0 to 10.
    """
    averages = {dimension: _average_dimension(criteria, judgement, dimension, official) for dimension in criteria.counted}
    known = require_present(averages.values())
    if isinstance(known, Missing):
        return known
    pairs = dict(zip(averages, known, strict=True))
    total = sum(criteria.weights[d] for d in pairs)
    overall = _Averages(
        sum(criteria.weights[d] * pair.report for d, pair in pairs.items()) / total,
        sum(criteria.weights[d] * pair.reference for d, pair in pairs.items()) / total,
    )
    return RaceScore({d: pair.share(official) for d, pair in pairs.items()}, overall.share(official))


def _average_dimension(
    criteria: RaceRubric, judgement: Judgement, dimension: RaceDimension, official: bool
) -> _Averages | Missing:
    wanted = criteria.criteria.get(dimension, ())
    scored = (
        _match_loosely(wanted, judgement.get(dimension, ())) if official else _match_exactly(wanted, judgement.get(dimension, ()))
    )
    if isinstance(scored, Missing):
        return Missing(f"{dimension}: {scored.reason}")
    total = sum(weight for weight, _ in scored)
    if not total:
        return _Averages(0.0, 0.0) if official else Missing(f"{dimension}: none of its criteria counts")
    return _Averages(
        sum(weight * _check_score(item.report) for weight, item in scored) / total,
        sum(weight * _check_score(item.reference) for weight, item in scored) / total,
    )


def _check_score(score: float) -> float:
    if not LEAST_SCORE <= score <= MOST_SCORE:
        raise ValueError(f"a RACE score is {LEAST_SCORE:g} to {MOST_SCORE:g}, not {score:g}")
    return score


WeightedScores = Sequence[tuple[float, JudgedCriterion]]


def _match_exactly(wanted: Sequence[RaceCriterion], given: Sequence[JudgedCriterion]) -> WeightedScores | Missing:
    """Match each criterion with its score. Every criterion must have exactly one score, and nothing else may have one."""
    by_text = {" ".join(item.criterion.split()): item for item in given}
    names = [" ".join(criterion.criterion.split()) for criterion in wanted]
    if len(by_text) != len(given):
        return Missing("a criterion is scored twice")
    if unscored := [name for name in names if name not in by_text]:
        return Missing(f"{len(unscored)} of {len(names)} criteria are not scored: {'; '.join(unscored)}")
    if unknown := by_text.keys() - set(names):
        return Missing(f"scored without being asked for: {'; '.join(sorted(unknown))}")
    return [(criterion.weight, by_text[name]) for criterion, name in zip(wanted, names, strict=True)] or Missing("no criteria")


def _match_loosely(wanted: Sequence[RaceCriterion], given: Sequence[JudgedCriterion]) -> WeightedScores:
    """Give each score the weight of the criterion it names, exactly, in another case, or in part; else the mean weight."""
    mean = sum(criterion.weight for criterion in wanted) / len(wanted) if wanted else 0.0
    return [(_weight_by_name(wanted, item.criterion.strip(), mean), item) for item in given]


def _weight_by_name(wanted: Sequence[RaceCriterion], name: str, default: float) -> float:
    for criterion in wanted:
        if criterion.criterion == name:
            return criterion.weight
    lower = name.lower()
    for criterion in wanted:
        text = criterion.criterion.lower()
        if text == lower or lower in text or text in lower:
            return criterion.weight
    return default


def mean_scores(scores: Sequence[RaceScore]) -> RaceScore:
    """Return the mean of each figure over tasks.

    Raises:
        ValueError: there are no scores.
    """
    if not scores:
        raise ValueError("no scored task")
    dimensions = {d: sum(score.dimensions[d] for score in scores) / len(scores) for d in scores[0].dimensions}
    return RaceScore(dimensions, sum(score.overall for score in scores) / len(scores))
