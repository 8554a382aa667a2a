"""Chooses the limits of the judge on pairs that it did not learn from, read by the files that will serve."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from app.domain.claims import Support
from training.recipes.claim_judge.config import LimitsSection
from training.synthesis.claim_support.pairs import ClaimPair
from workflows.checks.grading import Evidence, load_grader
from workflows.judging.pair_reader import PairReader


class ReadPair(NamedTuple):
    """A pair, the log-odds that its evidence states it, whether the judge doubts it, and whether it is full without the judge."""

    pair: ClaimPair
    stated: float
    doubted: bool
    full: bool


class JudgeLimits(NamedTuple):
    """A claim that follows its evidence's words closely and has log-odds below `doubted` is not fully supported."""

    doubted: float


def read_all(pairs: Sequence[ClaimPair], reader: PairReader) -> list[ReadPair]:
    """Read the pairs; one without a word on either side is left out."""
    found, grader = list[ReadPair](), load_grader()
    for pair in pairs:
        evidence = Evidence(pair.title, pair.evidence)
        if reading := reader.read(pair.claim, evidence):
            full = grader.grade(pair.claim, evidence).support is Support.FULL
            found.append(ReadPair(pair, reading.stated, reading.doubted, full))
    return found


def choose_limits(pairs: Sequence[ReadPair], section: LimitsSection) -> JudgeLimits:
    """Choose the limit below which at most a share `lost` of the honest claims lies that are full without it."""
    honest = [each.stated for each in pairs if each.pair.right and each.full]
    return JudgeLimits(round(float(np.quantile(honest, section.lost)), 3) if honest else -np.inf)
