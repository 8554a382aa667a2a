"""The agreement of a scoring method with people, on pairs of answers of which people prefer one (QSR 4.1, Table 1).

A variant is a row of that table: answers are scored one by one, compared in both orders, judged by a rubric that the judge wrote
for the question, or by a rubric written by hand for any question. `length` asks no judge; it is the baseline.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.missing import Missing
from app.domain.query import Language, ResearchQuery, detect_language
from app.domain.rubric import Rubric
from training.evaluation.benchmarks.files import each, one_of
from training.evaluation.harness.example import Answer, Answered, Benchmark, Example, Reading
from training.evaluation.harness.figures import Figure
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import Scores, scored
from training.evaluation.preference_metrics import cohens_d, preference_accuracy
from training.rewards.score import Score
from workflows.judging.baseline_rubric import BASELINE
from workflows.judging.pairwise_judge import Preferred, preferred
from workflows.judging.rubric_generation import draft_rubric
from workflows.judging.rubric_judge import judged
from workflows.judging.score_judges import pointwise_score

DIFFERENCE = "difference"
FIRST = -1
SIDES = {Preferred.FIRST: 1.0, Preferred.SECOND: -1.0, Preferred.TIE: 0.0}


@dataclass(frozen=True, slots=True)
class Pair:
    """The answer that most annotators prefer, the other one, and whether the preferred one came first."""

    accepted: str
    rejected: str
    first: bool


async def score_preference(example: Example[Pair], _: Answer, judging: Judging) -> Scores:
    """Return the preferred answer's score minus the other one's; missing where either is."""
    difference = await METHODS[judging.variant](example, judging)
    return scored(example.id, {DIFFERENCE: difference})


async def _by_points(example: Example[Pair], judging: Judging) -> Score:
    return _less(*[await pointwise_score(judging.kit, example.question, text) for text in _both(example, judging)])


async def _in_pairs(example: Example[Pair], judging: Judging) -> Score:
    """Compare both answers in the order of the data, so that the request does not reveal which one is preferred."""
    pair, (accepted, rejected) = example.gold, _both(example, judging)
    shown = (accepted, rejected) if pair.first else (rejected, accepted)
    choice = await preferred(judging.kit, example.question, *shown)
    return choice if isinstance(choice, Missing) else SIDES[choice] * (1.0 if pair.first else -1.0)


async def _by_own_rubric(example: Example[Pair], judging: Judging) -> Score:
    query = ResearchQuery(question=example.question, language=example.language)
    rubric = await draft_rubric(query, judging.kit)
    if rubric.model == "":
        return Missing(f"rubric: {rubric.notice}")
    return await _by_rubric(example, judging, rubric)


async def _by_general_rubric(example: Example[Pair], judging: Judging) -> Score:
    return await _by_rubric(example, judging, BASELINE[example.language])


async def _by_rubric(example: Example[Pair], judging: Judging, rubric: Rubric) -> Score:
    return _less(*[(await judged(judging.kit, example.question, text, rubric)).score() for text in _both(example, judging)])


async def _by_length(example: Example[Pair], _: Judging) -> Score:
    return float(len(example.gold.accepted) - len(example.gold.rejected))


METHODS: Mapping[str, Callable[[Example[Pair], Judging], Awaitable[Score]]] = {
    "pointwise": _by_points,
    "pairwise": _in_pairs,
    "generated": _by_own_rubric,
    "general": _by_general_rubric,
    "length": _by_length,
}


def _both(example: Example[Pair], judging: Judging) -> tuple[str, str]:
    """Return both texts as the judge sees them."""
    return judging.shown(example.gold.accepted), judging.shown(example.gold.rejected)


def _less(accepted: Score, rejected: Score) -> Score:
    if isinstance(accepted, Missing):
        return accepted
    return rejected if isinstance(rejected, Missing) else accepted - rejected


def _file(reading: Reading) -> Path:
    return one_of(reading.data, "squality.jsonl.gz", "pairs.jsonl")


def _example(row: dict[str, Any]) -> Example[Pair] | None:
    """Read a pair of `rubrica preferences export` or of a labelled set; None for a pair without a majority."""
    if "accepted" in row:
        question = str(row["query"]["question"])
        pair = Pair(str(row["accepted"]["text"]), str(row["rejected"]["text"]), row["accepted_shown"] == "left")
        return Example(str(row["id"]), question, Language(row["query"]["language"]), pair)
    if not row["majority"]:
        return None
    first = row["majority"] == FIRST
    a, b = str(row["response_a"]), str(row["response_b"])
    pair = Pair(a, b, first) if first else Pair(b, a, first)
    return Example(str(row["pair_id"]), str(row["question"]), detect_language(row["question"]), pair, str(row.get("domain", "")))


def _read(reading: Reading) -> list[Example[Pair]]:
    return [example for example in each(_file(reading), _example) if example is not None]


def _of_differences(metric: Callable[[list[float]], Score]) -> Figure:
    return Figure((DIFFERENCE,), lambda rows: metric([row[DIFFERENCE] for row in rows]))


PREFERENCE = Benchmark(
    name="preference",
    about="pairs of answers that people compared: accuracy (AUC) and paired Cohen's d of a way of scoring",
    files=lambda reading: [_file(reading)],
    read=_read,
    score=score_preference,
    figures={"accuracy": _of_differences(preference_accuracy), "cohens_d": _of_differences(cohens_d)},
    prompts_of_variant={
        "pointwise": ("pointwise",),
        "pairwise": ("pairwise",),
        "generated": ("rubric", "criterion"),
        "general": ("criterion",),
        "length": (),
    },
    answered=Answered.BY_NOBODY,
    variants=tuple(METHODS),
)
