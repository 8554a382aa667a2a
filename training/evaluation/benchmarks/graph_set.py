"""The questions of a set of graph queries (`rubrica data make graph-queries`): systems are run on them, and recorded."""

from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.query import Language
from training.evaluation.benchmarks.files import read_json_lines
from training.evaluation.benchmarks.short_answers import COVERAGE, EXACT, F1, PROMPTS, RIGHT, ShortGold, score_short
from training.evaluation.harness.example import Benchmark, BenchmarkInput, Example
from training.evaluation.harness.figures import means_of
from training.rewards.entities import Entity

ALL = "all"
SPLITS = ("train", "validation", "test")
ROWS = "rows.jsonl"


def _files_of(reading: BenchmarkInput) -> list[Path]:
    wanted = [split for split in SPLITS if reading.variant in ("", ALL, split)]
    found = [path for split in wanted if (path := reading.data / split / ROWS).exists()]
    if not found:
        raise InvalidInput(f"{reading.data} is no training set with the split {reading.variant or ALL}")
    return found


def _read_examples(reading: BenchmarkInput) -> list[Example[ShortGold]]:
    return [example for path in _files_of(reading) for example in read_json_lines(path, _example_of)]


def _example_of(row: dict[str, Any]) -> Example[ShortGold]:
    answer = row["answer"]
    gold = ShortGold((answer["name"], *answer["aliases"]), tuple(Entity(e["name"], tuple(e["aliases"])) for e in row["entities"]))
    return Example(str(row["id"]), str(row["query"]), Language(row["language"]), gold, f"{row['hops']} hops")


GRAPH_SET = Benchmark(
    name="graph-set",
    about="the questions of a set of graph queries, to record systems on them: right by a judge, exact match, F1, entities met",
    files=_files_of,
    read=_read_examples,
    score=score_short,
    figures=means_of(RIGHT, EXACT, F1, COVERAGE),
    prompts=PROMPTS,
    variants=(ALL, *SPLITS),
)
