"""A benchmark of the search alone, on any set in BEIR's files: `queries.jsonl`, `qrels/test.tsv`, `corpus.jsonl`."""

import csv
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.query import detect_language
from retrieval.store.catalogue import Collection, CorpusKind
from training.evaluation.benchmarks.files import each, one_of
from training.evaluation.harness.example import Answer, Answered, Benchmark, Example, Reading
from training.evaluation.harness.figures import means
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import Scores, scored
from training.evaluation.retrieval_metrics import ndcg, recall, reciprocal_rank

NDCG, RECALL, RANK = "ndcg_10", "recall_10", "mrr_10"
_UNUSABLE = re.compile(r"[^a-z0-9_-]+")
Grades = Mapping[str, int]


async def score_ranking(example: Example[Grades], answer: Answer, _: Judging) -> Scores:
    """Score a ranking by all three figures, 0 to 1."""
    ranking, grades = answer.ranking, example.gold
    figures = {NDCG: ndcg(ranking, grades), RECALL: recall(ranking, grades), RANK: reciprocal_rank(ranking, grades)}
    return scored(example.id, figures, list(ranking))


def labels_of(path: Path) -> dict[str, dict[str, int]]:
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


def _files(reading: Reading) -> list[Path]:
    corpus = one_of(reading.data, "corpus.jsonl", "corpus.jsonl.gz")
    return [_queries(reading), one_of(reading.data, "qrels/test.tsv"), corpus]


def _queries(reading: Reading) -> Path:
    return one_of(reading.data, "queries.jsonl", "queries.jsonl.gz")


def _read(reading: Reading) -> list[Example[Grades]]:
    """Read the queries that have a relevant document."""
    grades = labels_of(one_of(reading.data, "qrels/test.tsv"))
    texts = dict(each(_queries(reading), lambda row: (str(row["_id"]), str(row["text"]))))
    return [
        Example(query, texts[query], detect_language(texts[query]), found) for query, found in grades.items() if query in texts
    ]


def _corpus(reading: Reading, _: Path) -> Collection:
    name = _UNUSABLE.sub("-", reading.data.resolve().name.lower()).strip("-_")
    return Collection(name=name[:63] or "beir", kind=CorpusKind.BEIR, path=str(reading.data.resolve()))


RETRIEVAL = Benchmark(
    name="retrieval",
    about="the search alone on a set in BEIR's files: nDCG, recall and reciprocal rank of the first ten documents",
    files=_files,
    read=_read,
    score=score_ranking,
    figures=means(NDCG, RECALL, RANK),
    answered=Answered.BY_SEARCH,
    corpus=_corpus,
)
