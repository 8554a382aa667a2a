"""Queries of the product's readers among the rows of a set, at a stated share (MindDR 4.2, which states none).

Options: mined=FILE, the queries that `rubrica eval build publish` wrote; share, in hundredths.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from app.domain.errors import InvalidInput
from training.synthesis.asked_questions import read_questions
from training.synthesis.mined_consents import read_withdrawn
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.making import C
from training.synthesis.training_set.mixture import Classes, Mixture
from training.synthesis.training_set.recipe import SetRecipe

MINED, SHARE = "mined", "share"
BENCHMARK = "benchmark"
OPTIONS = frozenset({MINED, SHARE, BENCHMARK})
"""The options that all kinds have which are made of runs. `benchmark` names public ones whose runs are wanted."""
MADE, ORIGIN = "made", "origin"
ALL = 100


def mix_with_mined(recipe: SetRecipe[C], request: SetRequest) -> SetRecipe[C]:
    """Return the recipe with the shares of mined and other queries, where the request states them, without withdrawn ones.

    Raises:
        InvalidInput: only one of both options is given, the share is not from 0 to 100, or the set is made from a corpus.
    """
    if MINED not in request.options and SHARE not in request.options:
        return recipe
    if request.corpora:
        raise InvalidInput(f"{request.kind} is made from a corpus: mined queries are mixed into sets that are made of runs")
    share = request.number(SHARE, ALL + 1) / ALL
    if MINED not in request.options or share > 1:
        raise InvalidInput("to mix in readers' queries, give both --option mined=FILE and --option share=0 to 100")
    mined = {question.text.strip() for question in read_questions([Path(request.options[MINED])]).values()}

    withdrawn = read_withdrawn(Path(request.options[MINED]))

    def classify(candidate: C) -> Classes:
        origin = MINED if recipe.ask_query(candidate).strip() in mined else MADE
        return {**recipe.classify(candidate), ORIGIN: origin}

    mixture = Mixture(ORIGIN, {MINED: share, MADE: 1 - share})
    candidates = (each for each in recipe.candidates if recipe.ask_query(each).strip() not in withdrawn)
    return replace(recipe, candidates=candidates, mixtures=[*recipe.mixtures, mixture], classify=classify)


def find_mined(request: SetRequest) -> Path | None:
    """Return the file of mined queries; None where none is given."""
    return Path(request.options[MINED]) if MINED in request.options else None


def drop_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options without those that all kinds share."""
    return {name: value for name, value in options.items() if name not in OPTIONS}
