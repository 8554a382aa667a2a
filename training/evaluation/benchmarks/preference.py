"""The agreement of a scoring method with people, on pairs of answers of which people prefer one (QSR 4.1, Table 1).

A variant is a row of that table: answers are scored one by one, compared in both orders, judged by a rubric that a model wrote
for the question, or by a rubric written by hand for any question. The systems' model writes and the judge judges, so that two
writers can be compared under one judge. `length` asks no judge; it is the baseline.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from app.domain.evidence_rubric import EvidenceRubric
from app.domain.missing import Missing
from app.domain.query import Language, detect_language
from app.domain.rubric import Rubric
from training.evaluation.benchmarks.drb import judgement_of
from training.evaluation.benchmarks.files import find_file, read_json_lines
from training.evaluation.harness.example import AnswererKind, Benchmark, BenchmarkAnswer, BenchmarkInput, Example
from training.evaluation.harness.figures import BenchmarkFigure
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from training.evaluation.preference_metrics import cohens_d, preference_accuracy
from training.evaluation.race import race_score
from training.rewards.score import Score
from workflows.judging.baseline_rubric import BASELINE
from workflows.judging.evidence_generation import write_closed_book_rubric
from workflows.judging.pairwise_judge import Preference, judge_pair
from workflows.judging.race_generation import write_race_rubric
from workflows.judging.race_judge import compare_articles
from workflows.judging.rubric_generation import write_query_specific_rubric
from workflows.judging.rubric_judge import score_answer
from workflows.judging.score_judges import judge_pointwise

DIFFERENCE = "difference"
GENERATED, CLOSED_BOOK, RACE = "generated", "closed_book", "race"
EQUAL = 0.5
FIRST = -1
SIDES = {Preference.FIRST: 1.0, Preference.SECOND: -1.0, Preference.TIE: 0.0}


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answer that most annotators prefer, the other one, and whether the preferred one came first."""

    accepted: str
    rejected: str
    first: bool


async def score_preference(example: Example[AnswerPair], _: BenchmarkAnswer, judging: Judging) -> ItemScores:
    """Return the preferred answer's score minus the other one's; missing where either is."""
    difference = await METHODS[judging.variant](example, judging)
    return item_scores_of(example.id, {DIFFERENCE: difference})


async def _score_pointwise(example: Example[AnswerPair], judging: Judging) -> Score:
    return _subtract(*[await judge_pointwise(judging.kit, example.question, text) for text in _texts_of(example, judging)])


async def _compare_in_pairs(example: Example[AnswerPair], judging: Judging) -> Score:
    shown, sign = _order_texts(example, judging)
    choice = await judge_pair(judging.kit, example.question, *shown)
    return choice if isinstance(choice, Missing) else sign * SIDES[choice]


async def _score_by_own_rubric(example: Example[AnswerPair], judging: Judging) -> Score:
    """Judge by the rubric of the model that is measured, and by nothing that it did not write."""
    rubric = await write_query_specific_rubric(judging.writer, example.question)
    return rubric if isinstance(rubric, Missing) else await _score_by_rubric(example, judging, rubric)


async def _score_by_closed_book_rubric(example: Example[AnswerPair], judging: Judging) -> Score:
    rubric = await write_closed_book_rubric(judging.writer, example.question)
    return rubric if isinstance(rubric, Missing) else await _score_by_rubric(example, judging, rubric)


async def _compare_by_race(example: Example[AnswerPair], judging: Judging) -> Score:
    """Compare both answers by a RACE rubric for the question: the preferred one's share of the points, from -0.5 to 0.5."""
    rubric = await write_race_rubric(judging.writer, example.question)
    if isinstance(rubric, Missing):
        return rubric
    asked = [(dimension, criterion) for dimension in rubric.counted for criterion in rubric.criteria[dimension]]
    shown, sign = _order_texts(example, judging)
    points = await compare_articles(judging.kit, example.question, *shown, [criterion.shown for _, criterion in asked])
    if isinstance(points, Missing):
        return points
    found = race_score(rubric, judgement_of(asked, points))
    return found if isinstance(found, Missing) else sign * (found.overall - EQUAL)


async def _score_by_general_rubric(example: Example[AnswerPair], judging: Judging) -> Score:
    return await _score_by_rubric(example, judging, BASELINE[example.language])


async def _score_by_rubric(example: Example[AnswerPair], judging: Judging, rubric: Rubric | EvidenceRubric) -> Score:
    return _subtract(
        *[(await score_answer(judging.kit, example.question, text, rubric)).total() for text in _texts_of(example, judging)]
    )


async def _score_by_length(example: Example[AnswerPair], _: Judging) -> Score:
    return float(len(example.gold.accepted) - len(example.gold.rejected))


METHODS: Mapping[str, Callable[[Example[AnswerPair], Judging], Awaitable[Score]]] = {
    "pointwise": _score_pointwise,
    "pairwise": _compare_in_pairs,
    GENERATED: _score_by_own_rubric,
    CLOSED_BOOK: _score_by_closed_book_rubric,
    RACE: _compare_by_race,
    "general": _score_by_general_rubric,
    "length": _score_by_length,
}


def _texts_of(example: Example[AnswerPair], judging: Judging) -> tuple[str, str]:
    """Return both texts as the judge sees them."""
    return judging.shorten(example.gold.accepted), judging.shorten(example.gold.rejected)


def _order_texts(example: Example[AnswerPair], judging: Judging) -> tuple[tuple[str, str], float]:
    """Return both texts in the order of the data, which does not reveal the preferred one, and the sign of its advantage."""
    accepted, rejected = _texts_of(example, judging)
    return ((accepted, rejected), 1.0) if example.gold.first else ((rejected, accepted), -1.0)


def _subtract(accepted: Score, rejected: Score) -> Score:
    if isinstance(accepted, Missing):
        return accepted
    return rejected if isinstance(rejected, Missing) else accepted - rejected


def _data_file(reading: BenchmarkInput) -> Path:
    return find_file(reading.data, "squality.jsonl.gz", "pairs.jsonl")


def _read_example(row: dict[str, Any]) -> Example[AnswerPair] | None:
    """Read a pair of `rubrica preferences export` or of a labelled set; None for a pair without a majority."""
    if "accepted" in row:
        question = str(row["query"]["question"])
        pair = AnswerPair(str(row["accepted"]["text"]), str(row["rejected"]["text"]), row["accepted_shown"] == "left")
        return Example(str(row["id"]), question, Language(row["query"]["language"]), pair)
    if not row["majority"]:
        return None
    first = row["majority"] == FIRST
    a, b = str(row["response_a"]), str(row["response_b"])
    pair = AnswerPair(a, b, first) if first else AnswerPair(b, a, first)
    return Example(str(row["pair_id"]), str(row["question"]), detect_language(row["question"]), pair, str(row.get("domain", "")))


def _read_examples(reading: BenchmarkInput) -> list[Example[AnswerPair]]:
    return [example for example in read_json_lines(_data_file(reading), _read_example) if example is not None]


def _difference_figure(metric: Callable[[list[float]], Score]) -> BenchmarkFigure:
    return BenchmarkFigure((DIFFERENCE,), lambda rows: metric([row[DIFFERENCE] for row in rows]))


PREFERENCE = Benchmark(
    name="preference",
    about="pairs of answers that people compared: accuracy (AUC) and paired Cohen's d of a way of scoring",
    files=lambda reading: [_data_file(reading)],
    read=_read_examples,
    score=score_preference,
    figures={
        "accuracy": _difference_figure(preference_accuracy),
        "cohens_d": _difference_figure(cohens_d),
        "cohens_d_published": _difference_figure(partial(cohens_d, published=True)),
    },
    prompts_of_variant={
        "pointwise": ("pointwise",),
        "pairwise": ("pairwise",),
        GENERATED: ("criterion",),
        CLOSED_BOOK: ("criterion_met",),
        RACE: ("race",),
        "general": ("criterion",),
        "length": (),
    },
    answered=AnswererKind.BY_NOBODY,
    variants=tuple(METHODS),
    written_variants=(GENERATED, CLOSED_BOOK, RACE),
)
