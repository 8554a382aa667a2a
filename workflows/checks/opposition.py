"""Whether the evidence points in the same direction as a claim: features of polarity and direction.

Every direction word of the claim is compared with every direction word of the evidence. A pair counts by how many words around
the two are the same, and by how close the sentence is to the claim. Positive means the same direction, negative the opposite.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from workflows.checks.polarity import DirectionEvent
from workflows.checks.rarity import WordRarity
from workflows.checks.reading import ReadSentence

CLAIM_REACH = 5
EVIDENCE_REACH = 7
UNRELATED = 0.4
"""A sentence this far from the claim, or farther, says nothing about its direction."""
AIM_WEIGHT = 0.4
CONCLUSION_WEIGHT = 1.6
SAME_WORD = 2.0
FLOOR = 0.02
STEEPNESS = 3.0
FADE = 3.0


class OppositionFeatures(NamedTuple):
    """The features, each from -1 (opposed) to 1 (agreeing)."""

    direction: float
    strength: float
    denial: float
    parity: float
    nearby: float
    order: float


def measure_opposition(
    claim: ReadSentence, title: ReadSentence, evidence: Sequence[ReadSentence], closeness: Sequence[float], rarity: WordRarity
) -> OppositionFeatures:
    """Return the features. `closeness` says how near the title and each sentence are to the claim, from 0 to about 2."""
    direction = _ClaimDirection(claim, rarity)
    sums = _OppositionSums()
    sentences = [title, *evidence]
    for place, (sentence, close) in enumerate(zip(sentences, closeness, strict=True)):
        weight = max(0.0, close - UNRELATED) ** 2 * _weight_of(sentence, is_title=place == 0)
        if weight > 0:
            direction.compare(sentence, weight, sums)
    closest = sentences[max(range(len(sentences)), key=lambda i: closeness[i])]
    return OppositionFeatures(
        direction=sums.agreement / sums.met if sums.met else 0.0,
        strength=math.tanh(STEEPNESS * sums.agreement),
        denial=sums.denial / sums.weight if sums.weight else 0.0,
        parity=sums.parity / sums.weight if sums.weight else 0.0,
        nearby=sums.nearby / sums.weight if sums.weight else 0.0,
        order=_compare_order(claim, closest),
    )


def _weight_of(sentence: ReadSentence, is_title: bool) -> float:
    return (AIM_WEIGHT if sentence.aims else 1.0) * (CONCLUSION_WEIGHT if is_title or sentence.concludes else 1.0)


class _OppositionSums:
    """The sums over the sentences."""

    def __init__(self) -> None:
        self.agreement = self.met = self.denial = self.parity = self.nearby = self.weight = 0.0


class _ClaimDirection:
    """A claim's directions: its direction words, or, without any, its statement as a whole, affirmed or denied."""

    def __init__(self, claim: ReadSentence, rarity: WordRarity) -> None:
        self._claim = claim
        self._events = claim.events or (_whole_as_event(claim),)
        directed = {claim.words[event.at].key for event in claim.events}
        self._weights = {stem: rarity.weight_of(stem) for stem in claim.stems if stem not in directed}
        self._total = sum(self._weights.values()) or 1.0
        self._contexts = [_stems_around(claim, event.at, CLAIM_REACH) & self._weights.keys() for event in self._events]
        self._sign = _sign_of(claim)
        self._parity = math.prod(event.sign for event in self._events)

    def compare(self, sentence: ReadSentence, weight: float, sums: _OppositionSums) -> None:
        """Add one sentence."""
        events = sentence.events or ((_whole_as_event(sentence),) if sentence.denials else ())
        for met in events:
            around = _stems_around(sentence, met.at, EVIDENCE_REACH)
            for own, context in zip(self._events, self._contexts, strict=True):
                share = sum([self._weights[stem] for stem in context & around]) / self._total
                same = SAME_WORD if self._word_of(own, self._claim) == self._word_of(met, sentence) else 1.0
                sums.agreement += weight * (share + FLOOR) * same * own.sign * met.sign
                sums.met += weight * (share + FLOOR) * same
        sums.weight += weight
        sums.denial += weight * (1 if bool(sentence.denials) == bool(self._claim.denials) else -1)
        sums.parity += weight * self._parity * math.prod(event.sign for event in events)
        sums.nearby += weight * self._sign * math.tanh(_pull_of(sentence, self._weights))

    @staticmethod
    def _word_of(event: DirectionEvent, sentence: ReadSentence) -> str:
        return sentence.words[event.at].key if sentence.words else ""


def _whole_as_event(sentence: ReadSentence) -> DirectionEvent:
    """Return one event for a sentence without a direction word: at its first negation, or in its middle."""
    return DirectionEvent(sentence.denials[0], -1) if sentence.denials else DirectionEvent(len(sentence.words) // 2, 1)


def _sign_of(claim: ReadSentence) -> int:
    """Return the sign of most of a claim's directions; 0 for a tie."""
    total = sum(event.sign for event in claim.events) if claim.events else _whole_as_event(claim).sign
    return (total > 0) - (total < 0)


def _stems_around(sentence: ReadSentence, at: int, reach: int) -> frozenset[str]:
    return frozenset(word.stem for word in sentence.words[max(0, at - reach) : at + reach + 1] if word.stem)


def _pull_of(sentence: ReadSentence, weights: Mapping[str, float]) -> float:
    """Return the sum of a sentence's directions, each weaker the farther it stands from a word of the claim."""
    shared = [at for at, word in enumerate(sentence.words) if word.stem in weights]
    if not shared:
        return 0.0
    pull = 0.0
    for event in sentence.events:
        pull += event.sign * 2.0 ** (-min(abs(at - event.at) for at in shared) / FADE)
    return pull


def _compare_order(claim: ReadSentence, sentence: ReadSentence) -> float:
    """Return 1 if the claim's first half comes first in the sentence too, -1 if it comes last, 0 if that is unclear."""
    middle = len(claim.stems) // 2
    first, last = set(claim.stems[:middle]), set(claim.stems[middle:])
    before = [at for at, stem in enumerate(sentence.stems) if stem in first - last]
    after = [at for at, stem in enumerate(sentence.stems) if stem in last - first]
    if not before or not after:
        return 0.0
    gap = sum(after) / len(after) - sum(before) / len(before)
    return float((gap > 0) - (gap < 0))
