"""Queries of the product's readers among the rows of a set, at a stated share (MindDR 4.2, which states none).

Options: mined=FILE, the queries that `rubrica eval build publish` wrote; share, in hundredths.
"""

from collections.abc import Mapping
from pathlib import Path

from app.domain.errors import InvalidInput
from training.synthesis.asked_questions import read_questions
from training.synthesis.mined_consents import read_withdrawn
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.mixture import Mixture
from training.synthesis.training_set.outcome import KeptRow

MINED, SHARE = "mined", "share"
MADE = "made"
WITHDRAWN = "withdrawn"
ALL = 100


def mix_mined(request: SetRequest) -> list[Mixture]:
    """Return the shares of mined and other queries, where the request states them.

    Raises:
        InvalidInput: only one of both options is given, the share is not from 0 to 100, or the set is made from a corpus.
    """
    if MINED not in request.options and SHARE not in request.options:
        return []
    if request.corpora:
        raise InvalidInput(f"{request.kind} is made from a corpus: mined queries are mixed into sets that are made of runs")
    share = request.number(SHARE, ALL + 1) / ALL
    if MINED not in request.options or share > 1:
        raise InvalidInput("to mix in readers' queries, give both --option mined=FILE and --option share=0 to 100")
    mined = {question.text.strip() for question in read_questions([Path(request.options[MINED])]).values()}

    withdrawn = read_withdrawn(Path(request.options[MINED]))

    def find_origin(row: KeptRow) -> str:
        if row.query.strip() in withdrawn:
            return WITHDRAWN  # it has no share
        return MINED if row.query.strip() in mined else MADE

    return [Mixture("origin", find_origin, {MINED: share, MADE: 1 - share})]


def find_mined(request: SetRequest) -> Path | None:
    """Return the file of mined queries; None where none is given."""
    return Path(request.options[MINED]) if MINED in request.options else None


def drop_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options without those of the mixing, which all kinds share."""
    return {name: value for name, value in options.items() if name not in (MINED, SHARE)}
