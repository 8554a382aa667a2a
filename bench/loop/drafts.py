"""The evaluator: how far rubrics that the product drafts put what a question's readers want over the rest.

It knows the demands by their very words. It shares nothing with the judge of the reward, nor with the eye of the planted readers.
"""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import permutations
from statistics import fmean

from bench.learning_tasks.rubric_grammar import DEMANDS
from bench.loop.houses import Reader
from bench.loop.plant import FEATURES, Question
from rubrica_client import NewRun, asking
from rubrica_client.models import Rubric

AT_ONCE = 8


async def score_drafts(readers: Sequence[Reader], questions: Sequence[Question]) -> list[float]:
    """Have a rubric drafted by the API for each question, and score it."""
    room = asyncio.Semaphore(AT_ONCE)

    async def score(number: int, question: Question) -> float:
        async with room:
            client = readers[number % len(readers)].client
            return score_rubric((await client.send(asking.draft_rubric(NewRun(question=question.text)))).rubric, question)

    return list(await asyncio.gather(*(score(n, question) for n, question in enumerate(questions))))


def score_best_constant(questions: Sequence[Question]) -> float:
    """Return the mean score of the one order of features that suits these questions best, whatever is asked."""
    orders = ({name: place for place, name in enumerate(order)} for order in permutations(FEATURES))
    return max(fmean(_score(weights, question) for question in questions) for weights in orders)


def score_rubric(rubric: Rubric, question: Question) -> float:
    """Return the share of pairs of a wanted and another feature of which the rubric asks more for the wanted one."""
    return _score({name: _weigh(rubric, DEMANDS[name]) for name in FEATURES}, question)


def _score(weights: Mapping[str, int], question: Question) -> float:
    over = [weights[name] > weights[other] for name in question.wanted for other in weights.keys() - question.wanted]
    return sum(over) / len(over)


def _weigh(rubric: Rubric, demand: str) -> int:
    return sum(item.weight for item in rubric.criteria if item.description.endswith(f"Criterion: {demand}"))
