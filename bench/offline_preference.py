"""`python -m bench.offline_preference --data DIR [--model-file F] [--pairs N]`: ways of scoring against people's preferences.

SQuALITY's pairs of story summaries, each judged by three people (`squality.jsonl.gz`). What needs no model is measured on all
pairs that have a majority: the longer one, the one with more different words, the one that repeats itself less; and how often one
annotator agrees with the other two, where those agree. With a model file, N pairs (drawn with a fixed seed) are judged by the
general rubric: each summary by itself from 1 to 10, and both against each other in both orders. A tie counts as wrong (QSR
Eq. 6), and so the share of pairs that were decided is told beside. Intervals (95%) are over stories' questions,
since pairs of one question share their summaries. The data set has neither the stories nor the questions, so the judge sees the
summaries alone; nothing follows from this for reports.
"""

import argparse
import asyncio
import gzip
import json
import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from app.domain.missing import Missing
from app.domain.query import Language
from bench.result import print_result, print_skipped
from training.evaluation.benchmarks.preference import FIRST, SIDES
from training.evaluation.intervals import estimate_figure
from training.evaluation.preference_metrics import cohens_d, preference_accuracy
from training.rewards.score import Score
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.agents.ports import ChatModel
from workflows.chat_models.embedded import open_embedded
from workflows.judging.baseline_rubric import BASELINE
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.judging.pairwise_judge import judge_pair
from workflows.judging.score_judges import judge_pointwise
from workflows.prompts.library import PromptLibrary

FILE = "squality.jsonl.gz"
WORD = re.compile(r"[^\W_]+")
GRAM = 3
SEED = 20
TASK = "Summarise the story so that a reader who has not read it knows what happens, to whom and why. A good answer:"


class SummaryPair(NamedTuple):
    """Two summaries, whether most people prefer the first, and each annotator's own preference (True: the first)."""

    question: str
    first: str
    second: str
    prefers_first: bool
    votes: tuple[bool, ...]


def read_pairs(path: Path) -> list[SummaryPair]:
    """Read the pairs that have a majority."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [
        SummaryPair(
            row["question"],
            row["response_a"],
            row["response_b"],
            row["majority"] == FIRST,
            tuple(vote["preference"] == FIRST for vote in row["annotations"] if vote["preference"]),
        )
        for row in rows
        if row["majority"]
    ]


def words_of(text: str) -> list[str]:
    """Return the words of a text without case."""
    return WORD.findall(text.casefold())


def measure_novelty(text: str) -> float:
    """Return the share of three-word sequences that are not repetitions."""
    words = words_of(text)
    grams = list(zip(*(words[n:] for n in range(GRAM)), strict=False))
    return len(set(grams)) / len(grams) if grams else 0.0


BASELINES: Mapping[str, Callable[[str], float]] = {
    "longer": lambda text: float(len(words_of(text))),
    "richer": lambda text: float(len(set(words_of(text)))),
    "less_repeated": measure_novelty,
}


def list_agreements(pair: SummaryPair) -> list[float]:
    """Return 1 where an annotator agrees with the two others, -1 where not; nothing where those two disagree."""
    rest = [(vote, pair.votes[:n] + pair.votes[n + 1 :]) for n, vote in enumerate(pair.votes)]
    return [1.0 if vote == others[0] else -1.0 for vote, others in rest if len(others) > 1 and len(set(others)) == 1]


def sign_difference(difference: float, pair: SummaryPair) -> float:
    """Turn a difference, first minus second, into preferred minus rejected."""
    return difference if pair.prefers_first else -difference


async def judge_by_points(kit: Kit, task: str, pair: SummaryPair) -> Score:
    """Judge each summary by itself, from 1 to 10."""
    scores = [await judge_pointwise(kit, task, text) for text in (pair.first, pair.second)]
    if missing := next((score for score in scores if isinstance(score, Missing)), None):
        return missing
    first, second = (score for score in scores if not isinstance(score, Missing))
    return sign_difference(float(first - second), pair)


async def judge_in_pairs(kit: Kit, task: str, pair: SummaryPair) -> Score:
    """Judge both against each other, in both orders."""
    choice = await judge_pair(kit, task, pair.first, pair.second)
    return choice if isinstance(choice, Missing) else sign_difference(SIDES[choice], pair)


def print_accuracy(name: str, scored: Sequence[tuple[SummaryPair, float]], asked: int) -> dict[str, float]:
    """Print and return the figures of one way of scoring."""
    by_question: dict[str, list[float]] = defaultdict(list)
    for pair, difference in scored:
        by_question[pair.question].append(difference)
    differences = [difference for _, difference in scored]
    groups = list(by_question.values())
    accuracy = estimate_figure(lambda drawn: preference_accuracy(list(chain.from_iterable(drawn))), groups)
    effect = estimate_figure(lambda drawn: cohens_d(list(chain.from_iterable(drawn))), groups)
    if isinstance(accuracy, Missing):
        print(f"{name}: {accuracy.reason}")
        return {}
    decided = sum(d != 0 for d in differences) / len(differences)
    size = "undefined" if isinstance(effect, Missing) else f"{effect.value:.2f} [{effect.low:.2f}, {effect.high:.2f}]"
    print(
        f"{name:14} {len(differences):4d} of {asked} judged, {decided:.0%} decided; accuracy {accuracy.value:.3f} "
        f"[{accuracy.low:.3f}, {accuracy.high:.3f}]; Cohen's d {size}",
        flush=True,
    )
    return {f"{name}_accuracy": accuracy.value, f"{name}_low": accuracy.low, f"{name}_high": accuracy.high}


WAYS = {"pointwise": judge_by_points, "pairwise": judge_in_pairs}


async def judge_summaries(pairs: Sequence[SummaryPair], model: Path, kept: Path | None) -> dict[str, float]:
    """Judge pairs in both ways, with a model in this process."""
    async with open_embedded(model) as chat:
        scored = await _judge_all(pairs, chat, BatchRecord(AnswerStore(kept), 1))
    return {figure: value for name, found in scored.items() for figure, value in print_accuracy(name, found, len(pairs)).items()}


async def _judge_all(
    pairs: Sequence[SummaryPair], chat: ChatModel, record: BatchRecord
) -> dict[str, list[tuple[SummaryPair, float]]]:
    kit = Kit(chat, {}, record, PromptLibrary.load(), SchemaCodec(), date(2026, 1, 1), time.monotonic)
    task = "\n".join([TASK, *(f"- {criterion.description}" for criterion in BASELINE[Language.ENGLISH].criteria)])
    scored: dict[str, list[tuple[SummaryPair, float]]] = {name: [] for name in WAYS}
    for number, pair in enumerate(pairs, 1):
        for name, judge in WAYS.items():
            score = await judge(kit, task, pair)
            if not isinstance(score, Missing):
                scored[name].append((pair, score))
        print(f"{number} of {len(pairs)} pairs judged", flush=True)
    return scored


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data/pairwise_pref"), help=f"folder with {FILE}")
    parser.add_argument("--model-file", type=Path, help="a GGUF file that judges")
    parser.add_argument("--pairs", type=int, default=20, help="how many pairs the model judges")
    parser.add_argument("--answers", type=Path, help="file that keeps the model's answers, to go on from")
    options = parser.parse_args()
    if not (options.data / FILE).is_file():
        print_skipped("offline_preference", f"there is no {options.data / FILE}")
        return
    pairs = read_pairs(options.data / FILE)
    figures = print_accuracy("annotator", votes := [(p, vote) for p in pairs for vote in list_agreements(p)], len(votes))
    for name, measure in BASELINES.items():
        figures |= print_accuracy(
            name, [(p, sign_difference(measure(p.first) - measure(p.second), p)) for p in pairs], len(pairs)
        )
    if options.model_file:
        chosen = random.Random(SEED).sample(pairs, min(options.pairs, len(pairs)))
        figures |= asyncio.run(judge_summaries(chosen, options.model_file, options.answers))
    print_result("offline_preference", figures)


if __name__ == "__main__":
    main()
