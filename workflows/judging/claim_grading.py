"""Grading a claim as the product does: by rules and, where it can read the claim, by the learned judge.

No judge is shipped. One that `training/recipes/claim_judge` made is read from `pair_reader_files/`, if somebody has put it there.
It reads English; other claims are left to the rules.
"""

import logging
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from app.domain.errors import SetupError
from app.domain.query import Language, detect_language
from workflows.checks.grading import ClaimGrade, Evidence, PairReading, load_grader
from workflows.checks.nearness import TextVectors

if TYPE_CHECKING:
    from workflows.judging.pair_reader import PairReader

FOLDER = "pair_reader_files"
_log = logging.getLogger(__name__)


def grade_claim(claim: str, evidence: Evidence, vectors: TextVectors | None = None) -> ClaimGrade:
    """Grade a claim against its evidence, which has at least one sentence. `vectors` must hold the claim."""
    return load_grader().grade(claim, evidence, vectors, read_pair(claim, evidence))


def read_pair(claim: str, evidence: Evidence) -> PairReading | None:
    """Return what the learned judge reads; None where there is none, or where it does not know the claim's language."""
    reader = load_pair_reader() if can_read(claim) else None
    return reader.read(claim, evidence) if reader else None


def can_read(claim: str) -> bool:
    """Say whether the claim is English, the only language that the learned judge knows."""
    return detect_language(claim) is Language.ENGLISH


@cache
def load_pair_reader() -> "PairReader | None":
    """Load the judge that was put into this package; None where there is none, or, with a line in the log, where it is broken."""
    try:
        with as_file(files("workflows.judging").joinpath(FOLDER)) as folder:
            if not folder.is_dir():
                return None
            from workflows.judging.pair_reader import PairReader  # numpy takes ten megabytes, and few workers have a judge

            return PairReader(folder)
    except (SetupError, ImportError) as error:
        _log.warning("Claims are judged by rules alone: %s", error)
        return None
