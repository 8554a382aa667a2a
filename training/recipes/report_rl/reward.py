"""The reward of a report (MDR Eq. 12): RACE against the reference report, citations (Eq. 10), violations (Eq. 11)."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.domain.missing import Missing
from app.domain.race_rubric import RaceRubric
from app.domain.rubric import Rubric
from app.domain.rubric_score import Aggregation
from training.evaluation.benchmarks.drb import judgement_of
from training.evaluation.race import RaceScore, race_score
from training.recipes.report_rl.relevance import MeasureRelevance
from training.rewards.against_reference import (
    TOO_FEW,
    CountedCitation,
    count_citations,
    reference_citation_reward,
)
from training.rewards.composites import ReportWeights, report_reward
from training.rewards.quote_citations import (
    keep_known,
    list_quote_citations,
    name_for_rewards,
    number_quotes,
    swap_letters,
)
from training.rewards.sameness import has_words
from training.rewards.score import Score, require_present
from training.rewards.violations import find_violations
from training.rollouts.nouns import Reward
from workflows.agents.kit import Kit
from workflows.judging.race_judge import compare_articles
from workflows.judging.rubric_generation import write_query_specific_rubric
from workflows.judging.rubric_judge import score_answer

MOST_VIOLATIONS = -3
USUAL_WEIGHTS = ReportWeights()


@dataclass(frozen=True, slots=True)
class SampledReport:
    """A report that is rewarded. `text` cites `sources`, which are quotes by id, as [q3].

    `enclosed`: every part of it stood in its one answer tag. `reference_citations` is the number of those of the reference.
    """

    question: str
    text: str
    enclosed: bool
    sources: Mapping[str, str]
    rubric: RaceRubric
    reference: str
    reference_citations: int


@dataclass(frozen=True, slots=True)
class ReportJudging:
    """How reports are judged. `kit` is the judge's; without `race`, RACE is 0 for every report.

    A citation is valid whose relevance is above `threshold`. `published` counts citations as the paper's formula alone says.
    `generator` writes the rubric of a question; the score by it (QSR Eq. 2) counts `rubric_weight`.
    """

    kit: Kit | None
    relevance: MeasureRelevance
    generator: Kit | None = None
    rubric_weight: float = 0.0
    aggregation: Aggregation = Aggregation.BOUNDED
    race: bool = True
    threshold: float = 0.5
    weights: ReportWeights = USUAL_WEIGHTS
    published: bool = False


async def judge_report(sample: SampledReport, judging: ReportJudging) -> Reward:
    """Return the reward of Eq. 12 with its parts. It is missing where a judge's answer is.

    A report without words needs no judge: each part is the least that it can be.
    """
    if not has_words(sample.text):
        return _add_rubric(_compose(judging.weights, RaceScore({}, 0.0), TOO_FEW, MOST_VIOLATIONS, {}), 0.0, judging)
    race, citation, by_rubric = await asyncio.gather(
        _judge_race(sample, judging), judge_citations(sample, judging), _score_by_rubric(sample, judging)
    )
    return _add_rubric(_compose(judging.weights, race, citation, *count_violations(sample)), by_rubric, judging)


async def write_rubric(question: str, judging: ReportJudging) -> Rubric | Missing | None:
    """Have the generator write a question's rubric; None where no rubric counts. The judges' store keeps it."""
    return await write_query_specific_rubric(judging.generator, question) if judging.generator else None


async def _score_by_rubric(sample: SampledReport, judging: ReportJudging) -> Score:
    """Score a report, as a reader sees it, by the rubric of its question; 0 where no rubric counts."""
    rubric = await write_rubric(sample.question, judging)
    if rubric is None or isinstance(rubric, Missing):
        return rubric or 0.0
    if judging.kit is None:
        return Missing("there is no judge to ask")
    shown = number_quotes(sample.text, sample.sources)
    return (await score_answer(judging.kit, sample.question, shown, rubric)).total(judging.aggregation)


def _add_rubric(reward: Reward, score: Score, judging: ReportJudging) -> Reward:
    """Return a reward with the weighted score by a rubric as a further part; as it is where no rubric counts."""
    if not judging.rubric_weight:
        return reward
    found = require_present([reward.value, score])
    value = found if isinstance(found, Missing) else found[0] + judging.rubric_weight * found[1]
    return replace(reward, value=value, parts={**reward.parts, "rubric": score})


def count_violations(sample: SampledReport) -> tuple[int, dict[str, float]]:
    """Return the reward of Eq. 11, from -3 to 0, and its three indicators."""
    found = find_violations(swap_letters(sample.text), name_for_rewards(sample.sources))
    shown = {
        "violation_tag": float(found.tag or not sample.enclosed),
        "violation_markdown": float(found.markdown),
        "violation_references": float(found.references),
    }
    return -int(sum(shown.values())), shown


async def judge_citations(sample: SampledReport, judging: ReportJudging) -> Score:
    """Return the reward of Eq. 10. Where there are too few citations, their relevance is not asked for."""
    cited = list_quote_citations(sample.text)
    asked = keep_known(cited, sample.sources)
    generated = count_citations((CountedCitation(*each, 0.0) for each in cited), judging.threshold, judging.published)[0]
    if reference_citation_reward(generated, 0, sample.reference_citations) == TOO_FEW:
        return TOO_FEW
    measured = require_present(
        await asyncio.gather(
            *(judging.relevance(judging.kit, sample.question, text, sample.sources[name]) for text, name in asked)
        )
    )
    if isinstance(measured, Missing):
        return measured
    relevance = dict(zip(asked, measured, strict=True))
    counted = [CountedCitation(*each, relevance.get(each, 0.0)) for each in cited]
    generated, valid = count_citations(counted, judging.threshold, judging.published)
    return reference_citation_reward(generated, valid, sample.reference_citations, judging.published)


async def _judge_race(sample: SampledReport, judging: ReportJudging) -> RaceScore | Missing:
    """Compare the report, as a reader sees it, with the reference, criterion by criterion."""
    if not judging.race:
        return RaceScore({}, 0.0)
    if judging.kit is None:
        return Missing("there is no judge to ask")
    rubric = sample.rubric
    asked = [(dimension, criterion) for dimension in rubric.counted for criterion in rubric.criteria[dimension]]
    report = number_quotes(sample.text, sample.sources)
    points = await compare_articles(judging.kit, sample.question, report, sample.reference, [each.shown for _, each in asked])
    return points if isinstance(points, Missing) else race_score(rubric, judgement_of(asked, points))


def _compose(
    weights: ReportWeights, race: RaceScore | Missing, citation: Score, violations: int, shown: Mapping[str, float]
) -> Reward:
    overall = race if isinstance(race, Missing) else race.overall
    value = citation if isinstance(citation, Missing) else report_reward(overall, citation, violations, weights)
    dimensions = {} if isinstance(race, Missing) else {f"race_{name}": score for name, score in race.dimensions.items()}
    return Reward(value, {"race": overall, "citation": citation, "format": float(violations), **dimensions, **shown})
