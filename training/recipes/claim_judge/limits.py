"""Chooses the limits of the judge on pairs that it did not learn from, read by the files that will serve."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from training.recipes.claim_judge.config import LimitsSection
from training.synthesis.claim_support.pairs import ClaimPair
from workflows.checks.grading import Evidence
from workflows.checks.vetoes.reasons import VetoReason
from workflows.checks.vetoes.veto import find_veto
from workflows.judging.pair_reader import PairReader


class ReadPair(NamedTuple):
    """A pair, the log-odds that its evidence states it, whether the judge doubts it, and what the rules have against it."""

    pair: ClaimPair
    stated: float
    doubted: bool
    veto: VetoReason | None


class JudgeLimits(NamedTuple):
    """A claim that follows its evidence's words closely and has log-odds below `doubted` is not fully supported."""

    doubted: float


def read_all(pairs: Sequence[ClaimPair], reader: PairReader) -> list[ReadPair]:
    """Read the pairs; one without a word on either side is left out."""
    found: list[ReadPair] = []
    for pair in pairs:
        reading = reader.read(pair.claim, Evidence(pair.title, pair.evidence))
        veto = find_veto(pair.claim, pair.title, tuple(pair.evidence))
        if reading:
            found.append(ReadPair(pair, reading.stated, reading.doubted, veto.reason if veto else None))
    return found


def choose_limits(pairs: Sequence[ReadPair], section: LimitsSection) -> JudgeLimits:
    """Choose the limit below which at most a share `lost` of the honest claims lies that no rule stops."""
    honest = [each.stated for each in pairs if each.pair.right and each.veto is None]
    return JudgeLimits(round(float(np.quantile(honest, section.lost)), 3) if honest else -np.inf)
