"""What a veto says."""

from enum import StrEnum
from typing import NamedTuple


class VetoReason(StrEnum):
    """Why a claim is not fully supported. The values name the sentences that readers see."""

    NUMBER = "number_missing"
    NUMBER_ELSEWHERE = "number_elsewhere"
    BOUND = "bound_differs"
    NAME = "name_missing"
    OPPOSITE = "opposite_word"
    NEGATION = "negation_differs"
    QUANTITY = "quantity_differs"
    OPEN = "hedge_dropped"
    CERTAIN = "certainty_added"
    ONLY = "only_added"
    RELATION = "relation_differs"
    ROLES = "roles_differ"
    WORDS = "words_missing"


class Veto(NamedTuple):
    """A reason and the words that it is about; `unknown` is the share of the claim's words that the evidence lacks.

    `given` are the evidence's words that stand against those of the claim, where there are such.
    """

    reason: VetoReason
    words: str
    unknown: float = 0.0
    given: str = ""


OPPOSED = frozenset({VetoReason.OPPOSITE, VetoReason.NEGATION})
"""Reasons for which the evidence states the opposite, where it has all else that the claim says."""
