"""A benchmark of the search alone, on any set in BEIR's files: `queries.jsonl`, `qrels/test.tsv`, `corpus.jsonl`."""

import csv
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.query import detect_language
from retrieval.store.catalogue import Collection, CorpusKind
from training.evaluation.benchmarks.files import find_file, read_json_lines
from training.evaluation.harness.example import AnswererKind, Benchmark, BenchmarkAnswer, BenchmarkInput, Example
from training.evaluation.harness.figures import means_of
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from training.evaluation.retrieval_metrics import ndcg, recall, reciprocal_rank

NDCG, RECALL, RANK = "ndcg_10", "recall_10", "mrr_10"
_UNUSABLE = re.compile(r"[^a-z0-9_-]+")
Grades = Mapping[str, int]


async def score_ranking(example: Example[Grades], answer: BenchmarkAnswer, _: Judging) -> ItemScores:
    """Score a ranking by all three figures, 0 to 1."""
    ranking, grades = answer.ranking, example.gold
    figures = {NDCG: ndcg(ranking, grades), RECALL: recall(ranking, grades), RANK: reciprocal_rank(ranking, grades)}
    return item_scores_of(example.id, figures, list(ranking))


def read_labels(path: Path) -> dict[str, dict[str, int]]:
    """Read the grades of relevant documents by query, from tab-separated lines of query, document and grade.

    Raises:
        InvalidInput: the file has another form or cannot be read.
    """
    grades: dict[str, dict[str, int]] = defaultdict(dict)
    try:
        with path.open(encoding="utf-8", newline="") as rows:
            for query, document, grade in csv.reader(rows, delimiter="\t"):
                if grade.isdigit() and int(grade) > 0:
                    grades[query][document] = int(grade)
    except (OSError, ValueError, csv.Error) as error:
        raise InvalidInput(f"{path} cannot be read as lines of query, document and grade, parted by tabs: {error}") from error
    return dict(grades)


def _files_of(reading: BenchmarkInput) -> list[Path]:
    corpus = find_file(reading.data, "corpus.jsonl", "corpus.jsonl.gz")
    return [_queries_file(reading), find_file(reading.data, "qrels/test.tsv"), corpus]


def _queries_file(reading: BenchmarkInput) -> Path:
    return find_file(reading.data, "queries.jsonl", "queries.jsonl.gz")


def _read_examples(reading: BenchmarkInput) -> list[Example[Grades]]:
    """Read the queries that have a relevant document."""
    grades = read_labels(find_file(reading.data, "qrels/test.tsv"))
    texts = dict(read_json_lines(_queries_file(reading), lambda row: (str(row["_id"]), str(row["text"]))))
    return [
        Example(query, texts[query], detect_language(texts[query]), found) for query, found in grades.items() if query in texts
    ]


def _corpus_of(reading: BenchmarkInput, _: Path) -> Collection:
    name = _UNUSABLE.sub("-", reading.data.resolve().name.lower()).strip("-_")
    return Collection(name=name[:63] or "beir", kind=CorpusKind.BEIR, path=str(reading.data.resolve()))


RETRIEVAL = Benchmark(
    name="retrieval",
    about="the search alone on a set in BEIR's files: nDCG, recall and reciprocal rank of the first ten documents",
    files=_files_of,
    read=_read_examples,
    score=score_ranking,
    figures=means_of(NDCG, RECALL, RANK),
    answered=AnswererKind.BY_SEARCH,
    corpus=_corpus_of,
)
