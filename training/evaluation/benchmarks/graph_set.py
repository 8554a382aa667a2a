"""The questions of a set of graph queries (`rubrica data make graph-queries`): systems are run on them, and recorded.

`graph-set` asks the question itself, which has one answer. `graph-requests` asks for a report on it (QSR appendix A), and
measures how many of the entities on the path the report covers.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from app.domain.errors import InvalidInput
from app.domain.query import Language
from training.evaluation.benchmarks.files import read_json_lines
from training.evaluation.benchmarks.short_answers import COVERAGE, EXACT, F1, PROMPTS, RIGHT, ShortGold, score_short
from training.evaluation.harness.example import Benchmark, BenchmarkAnswer, BenchmarkInput, Example, QuestionOrigin
from training.evaluation.harness.figures import means_of
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from training.rewards.entities import Entity, is_mentioned
from training.rewards.sameness import fold_text

ALL = "all"
SPLITS = ("train", "validation", "test")
ROWS = "rows.jsonl"
TARGETS = "targets_covered"
G = TypeVar("G")


def list_row_files(reading: BenchmarkInput) -> list[Path]:
    """Return the files of rows of a training set, or of one of its splits.

    Raises:
        InvalidInput: there is none.
    """
    wanted = [split for split in SPLITS if reading.variant in ("", ALL, split)]
    found = [path for split in wanted if (path := reading.data / split / ROWS).exists()]
    if not found:
        raise InvalidInput(f"{reading.data} is no training set with the split {reading.variant or ALL}")
    return found


def read_rows_as(
    read: Callable[[dict[str, Any]], Example[G]],
) -> Callable[[BenchmarkInput], list[Example[G]]]:
    """Return the reader of a training set whose rows are read in this way."""
    return lambda reading: [example for path in list_row_files(reading) for example in read_json_lines(path, read)]


def _read_question(row: dict[str, Any]) -> Example[ShortGold]:
    answer = row["answer"]
    gold = ShortGold((answer["name"], *answer["aliases"]), tuple(_read_entity(each) for each in row["entities"]))
    return Example(str(row["id"]), str(row["query"]), Language(row["language"]), gold, str(row["topic"]), int(row["hops"]))


def _read_request(row: dict[str, Any]) -> Example[tuple[Entity, ...]]:
    known = {each["name"]: _read_entity(each) for each in (*row["entities"], row["answer"])}
    targets = tuple(known.get(name, Entity(name)) for name in row["coverage_targets"])
    return Example(str(row["id"]), str(row["request"]), Language(row["language"]), targets, str(row["topic"]), int(row["hops"]))


def _read_entity(said: dict[str, Any]) -> Entity:
    return Entity(said["name"], tuple(said["aliases"]))


async def score_targets(example: Example[tuple[Entity, ...]], answer: BenchmarkAnswer, _: Judging) -> ItemScores:
    """Score the share of the coverage targets that the report names."""
    text = fold_text(answer.text)
    covered = {entity.name: is_mentioned(entity, text) for entity in example.gold}
    return item_scores_of(example.id, {TARGETS: sum(covered.values()) / len(covered)}, {"covered": dict(covered)})


GRAPH_SET = Benchmark(
    name="graph-set",
    about="the questions of a set of graph queries, to record systems on them: right by a judge, exact match, F1, entities met",
    files=list_row_files,
    read=read_rows_as(_read_question),
    score=score_short,
    figures=means_of(RIGHT, EXACT, F1, COVERAGE),
    prompts=PROMPTS,
    variants=(ALL, *SPLITS),
    questions=QuestionOrigin.GRAPH,
)
GRAPH_REQUESTS = Benchmark(
    name="graph-requests",
    about="the same questions as requests for a report: the share of the entities on the path that a report names (no judge)",
    files=list_row_files,
    read=read_rows_as(_read_request),
    score=score_targets,
    figures=means_of(TARGETS),
    variants=(ALL, *SPLITS),
    questions=QuestionOrigin.GRAPH,
)
