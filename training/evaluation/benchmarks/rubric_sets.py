"""Benchmarks that check reports against lists: ResearchQA (coverage of points), DeepResearch Bench II (demands)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.missing import Missing
from app.domain.query import Language, detect_language
from training.evaluation.benchmarks.files import find_file, read_all, read_json_lines, read_json_rows
from training.evaluation.harness.example import Benchmark, BenchmarkAnswer, BenchmarkInput, Example
from training.evaluation.harness.figures import means_of, ratio_of
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from workflows.judging.list_judges import DemandVerdict, judge_coverage, judge_demands

COVERAGE, FULLY = "coverage", "fully_covered"
DIMENSIONS = ("info_recall", "analysis", "presentation")
MET, DEMANDS, EXCLUDED = "met", "demands", "excluded"


@dataclass(frozen=True, slots=True)
class CoveragePoints:
    """The points that an answer should cover, with the kind of each point."""

    points: tuple[str, ...]
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExpertDemands:
    """The demands by dimension, and the excluded source: the expert's report from which they come."""

    by_dimension: Mapping[str, tuple[str, ...]]
    excluded: str


async def score_coverage(example: Example[CoveragePoints], answer: BenchmarkAnswer, judging: Judging) -> ItemScores:
    """Score the mean over the points of (level - 1) / 4, and the share that is covered completely."""
    found = await judge_coverage(judging.kit, answer.text, example.gold.points)
    if isinstance(found, Missing):
        return item_scores_of(example.id, {COVERAGE: found, FULLY: found})
    figures = {COVERAGE: sum(found) / len(found), FULLY: sum(level == 1.0 for level in found) / len(found)}
    told = zip(example.gold.points, example.gold.kinds, found, strict=True)
    return item_scores_of(example.id, figures, [{"point": point, "kind": kind, "covered": level} for point, kind, level in told])


async def score_demands(example: Example[ExpertDemands], answer: BenchmarkAnswer, judging: Judging) -> ItemScores:
    """Score the share of met demands, in all and by dimension. A demand met by the excluded source counts apart, as not met."""
    asked = [(dimension, demand) for dimension, demands in example.gold.by_dimension.items() for demand in demands]
    texts = [demand for _, demand in asked]
    found = await judge_demands(judging.kit, example.question, answer.text, texts, example.gold.excluded)
    if isinstance(found, Missing):
        return item_scores_of(example.id, dict.fromkeys((MET, DEMANDS, EXCLUDED, *DIMENSIONS), found))
    met = [verdict is DemandVerdict.MET for verdict in found]
    excluded = sum(verdict is DemandVerdict.EXCLUDED for verdict in found)
    figures = {MET: float(sum(met)), DEMANDS: float(len(met)), EXCLUDED: float(excluded)}
    for dimension in example.gold.by_dimension:
        own = [is_met for (of, _), is_met in zip(asked, met, strict=True) if of == dimension]
        figures |= {dimension: sum(own) / len(own)} if own else {}
    told = zip(asked, found, strict=True)
    return item_scores_of(
        example.id, figures, [{"dimension": d, "demand": demand, "verdict": v.value} for (d, demand), v in told]
    )


def _researchqa_example(row: dict[str, Any]) -> Example[CoveragePoints]:
    rubric = [(str(item["rubric_item"]), str(item.get("type", ""))) for item in row["rubric"]]
    if not rubric:
        raise ValueError("the rubric is empty")
    gold = CoveragePoints(tuple(point for point, _ in rubric), tuple(kind for _, kind in rubric))
    return Example(str(row["id"]), str(row["query"]), Language.ENGLISH, gold, str(row.get("general_domain", "")))


def _drb2_example(row: dict[str, Any]) -> Example[ExpertDemands]:
    content = row["content"]
    demands = {name: tuple(map(str, content["rubric"].get(name) or ())) for name in DIMENSIONS}
    if not any(demands.values()):
        raise ValueError("the rubric is empty")
    task, blocked = str(content["task"]), content.get("blocked") or {}
    excluded = "; ".join([str(blocked.get("title") or ""), *map(str, blocked.get("urls") or ())]).strip("; ")
    domain = str(row.get("theme") or row.get("topic") or "")
    return Example(str(row["idx"]), task, detect_language(task), ExpertDemands(demands, excluded), domain)


def _researchqa_file(reading: BenchmarkInput) -> Path:
    return find_file(reading.data, "test.json", "valid.json", "full.json")


def _drb2_file(reading: BenchmarkInput) -> Path:
    return find_file(reading.data, "tasks_and_rubrics.jsonl")


def _read_researchqa(reading: BenchmarkInput) -> Sequence[Example[CoveragePoints]]:
    path = _researchqa_file(reading)
    return read_all(path, read_json_rows(path), _researchqa_example)


RESEARCHQA = Benchmark(
    name="researchqa",
    about="ResearchQA: how far a report covers the points a survey makes",
    files=lambda reading: [_researchqa_file(reading)],
    read=_read_researchqa,
    score=score_coverage,
    figures=means_of(COVERAGE, FULLY),
    prompts=("coverage",),
)
DRB2 = Benchmark(
    name="drb2",
    about="DeepResearch Bench II: the share of an expert report's demands that are met",
    files=lambda reading: [_drb2_file(reading)],
    read=lambda reading: read_json_lines(_drb2_file(reading), _drb2_example),
    score=score_demands,
    figures={"all": ratio_of(MET, DEMANDS), **means_of(*DIMENSIONS), "excluded_source": ratio_of(EXCLUDED, DEMANDS)},
    prompts=("checklist",),
)
