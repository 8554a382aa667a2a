"""DeepResearch Bench's questions, and RACE, which compares each report with a reference report (MindDR 8.3).

The folder has `query.jsonl` (id, topic, language, prompt) and `criteria.jsonl` (or `.gz`), as published. The reference reports
are rows of id and article in `reference.jsonl` in the folder, or in a file of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from app.domain.errors import InvalidInput
from app.domain.missing import Missing
from app.domain.query import Language
from app.domain.race_rubric import RaceCriterion, RaceDimension, RaceRubric
from training.evaluation.benchmarks.article import clean_article
from training.evaluation.benchmarks.files import find_file, read_json_lines, read_reports, require_unique
from training.evaluation.harness.example import Benchmark, BenchmarkAnswer, BenchmarkInput, Example
from training.evaluation.harness.figures import means_of
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from training.evaluation.race import JudgedCriterion, Judgement, race_score
from training.evaluation.race_files import read_criteria
from workflows.judging.race_by_dimension import compare_by_dimension
from workflows.judging.race_judge import CriterionPoints, compare_in_part

STRICT, OFFICIAL, DIMENSIONS = "strict", "official", "dimensions"
OVERALL = "overall"
FIGURES = (OVERALL, *map(str, RaceDimension))


@dataclass(frozen=True, slots=True)
class RaceGold:
    """The criteria of a report, and the reference report it is compared with."""

    criteria: RaceRubric
    reference: str


def read_queries(folder: Path) -> list[Example[None]]:
    """Read the questions."""
    path = find_file(folder, "query.jsonl", "query.jsonl.gz")
    found = read_json_lines(path, _read_question)
    require_unique(path, [example.id for example in found])
    return found


def query_files_of(reading: BenchmarkInput) -> list[Path]:
    """Return the file of questions."""
    return [find_file(reading.data, "query.jsonl", "query.jsonl.gz")]


def _read_question(row: dict[str, Any]) -> Example[None]:
    return Example(str(row["id"]), str(row["prompt"]), Language(row["language"]), None, str(row.get("topic", "")))


def _files_of(reading: BenchmarkInput) -> list[Path]:
    return [*query_files_of(reading), _criteria_file_of(reading), _reference_file_of(reading)]


def _criteria_file_of(reading: BenchmarkInput) -> Path:
    return find_file(reading.data, "criteria.jsonl", "criteria.jsonl.gz")


def _reference_file_of(reading: BenchmarkInput) -> Path:
    if reading.reference is not None:
        return reading.reference
    try:
        return find_file(reading.data, "reference.jsonl", "reference.jsonl.gz")
    except InvalidInput as error:
        raise InvalidInput(f"{error}; or name the reports to compare with by --reference FILE") from error


def _read_examples(reading: BenchmarkInput) -> Sequence[Example[RaceGold]]:
    criteria = {str(id_): rubric for id_, rubric in read_criteria(_criteria_file_of(reading)).items()}
    references = read_reports(_reference_file_of(reading))
    found = read_queries(reading.data)
    return [
        Example(e.id, e.question, e.language, RaceGold(criteria[e.id], references[e.id].article), e.domain)
        for e in found
        if e.id in criteria and e.id in references
    ]


async def score_race(example: Example[RaceGold], answer: BenchmarkAnswer, judging: Judging) -> ItemScores:
    """Score a report by its share of the points of both reports, overall and by dimension, 0 to 1."""
    articles = clean_article(answer.text), judging.shorten(clean_article(example.gold.reference))
    ways = {DIMENSIONS: _score_by_dimension}
    return await ways.get(judging.variant, _score_by_criterion)(example, articles, judging)


async def _score_by_criterion(example: Example[RaceGold], articles: tuple[str, str], judging: Judging) -> ItemScores:
    asked = [(dimension, criterion) for dimension, cs in example.gold.criteria.criteria.items() for criterion in cs]
    shown = [criterion.shown for _, criterion in asked]
    points = await compare_in_part(judging.kit, example.question, *articles, shown)
    if isinstance(points, Missing):
        return item_scores_of(example.id, dict.fromkeys(FIGURES, points))
    official, unscored = judging.variant == OFFICIAL, sum(pair is None for pair in points)
    if unscored and not official:
        return item_scores_of(
            example.id, dict.fromkeys(FIGURES, Missing(f"race: {unscored} of {len(points)} criteria are not scored"))
        )
    return _score_judgement(example.id, example.gold.criteria, judgement_of(asked, points), official)


async def _score_by_dimension(example: Example[RaceGold], articles: tuple[str, str], judging: Judging) -> ItemScores:
    """Score each dimension as if it had one criterion."""
    rubric = example.gold.criteria
    names = {dimension: [criterion.criterion for criterion in rubric.criteria[dimension]] for dimension in rubric.counted}
    points = await compare_by_dimension(judging.kit, example.question, *articles, names)
    if isinstance(points, Missing):
        return item_scores_of(example.id, dict.fromkeys(FIGURES, points))
    judgement = {dimension: [JudgedCriterion(str(dimension), *pair)] for dimension, pair in points.items()}
    whole = {dimension: (RaceCriterion(criterion=str(dimension), weight=1.0),) for dimension in points}
    return _score_judgement(example.id, RaceRubric(weights=rubric.weights, criteria=whole), judgement, False)


def _score_judgement(item: str, rubric: RaceRubric, judgement: Judgement, official: bool) -> ItemScores:
    detail: dict[str, JsonValue] = {
        str(dimension): [_judged_row_of(one) for one in found] for dimension, found in judgement.items()
    }
    found = race_score(rubric, judgement, official)
    if isinstance(found, Missing):
        return item_scores_of(item, dict.fromkeys(FIGURES, found), detail)
    by_dimension = {str(dimension): value for dimension, value in found.dimensions.items()}
    return item_scores_of(item, {OVERALL: found.overall} | by_dimension, detail)


def judgement_of(asked: Sequence[tuple[RaceDimension, RaceCriterion]], points: Sequence[CriterionPoints | None]) -> Judgement:
    """Collect the scored criteria by dimension."""
    judgement: dict[RaceDimension, list[JudgedCriterion]] = {dimension: [] for dimension, _ in asked}
    for (dimension, criterion), pair in zip(asked, points, strict=True):
        if pair is not None:
            judgement[dimension].append(JudgedCriterion(criterion.criterion, pair.first, pair.second))
    return judgement


def _judged_row_of(item: JudgedCriterion) -> JsonValue:
    """Return the row in which the benchmark writes down a judge's output."""
    return {"criterion": item.criterion, "article_1_score": item.report, "article_2_score": item.reference}


RACE = Benchmark(
    name="drb-race",
    about="DeepResearch Bench, RACE: reports against reference reports, criterion by criterion",
    files=_files_of,
    read=_read_examples,
    score=score_race,
    figures=means_of(*FIGURES),
    prompts=("race",),
    variants=(STRICT, OFFICIAL, DIMENSIONS),
    prompts_of_variant={DIMENSIONS: ("race_dimensions",)},
    judged_text=clean_article,
)
