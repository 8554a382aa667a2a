"""The queries of a set of evidence trees (`rubrica data make evidence-trees`): systems are run on them, and recorded.

A report is scored by the rubric of its query (DeepRubric Eq. 4).
"""

from typing import Any

from app.domain.evidence_rubric import EvidenceRubric
from app.domain.query import Language
from training.evaluation.benchmarks.graph_set import ALL, SPLITS, list_row_files, read_rows_as
from training.evaluation.harness.example import Benchmark, BenchmarkAnswer, Example, QuestionOrigin
from training.evaluation.harness.figures import means_of
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from training.rewards.deeprubric import judge_rubric_reward

RUBRIC = "rubric"


def _read_query(row: dict[str, Any]) -> Example[EvidenceRubric]:
    rubric = EvidenceRubric.model_validate(row["rubric"])
    return Example(str(row["id"]), str(row["query"]), Language(row["language"]), rubric, str(row["topic"]))


async def score_by_rubric(example: Example[EvidenceRubric], answer: BenchmarkAnswer, judging: Judging) -> ItemScores:
    """Score a report by the criteria of its query, from 0 to 1."""
    found = await judge_rubric_reward(example.question, answer.text, example.gold.criteria, judging.kit)
    return item_scores_of(example.id, {RUBRIC: found})


TREE_SET = Benchmark(
    name="tree-set",
    about="the queries of a set of evidence trees, to record systems on them: the score by the rubric of each query",
    files=list_row_files,
    read=read_rows_as(_read_query),
    score=score_by_rubric,
    figures=means_of(RUBRIC),
    prompts=("criterion_met",),
    variants=(ALL, *SPLITS),
    questions=QuestionOrigin.TREE,
)
