"""How many of a claim's words the evidence has: features of lexical alignment.

Words are weighted by rarity. `best` is the sentence that covers the claim best, `top` the three best together, `all` the
whole evidence.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from workflows.checks.rarity import WordRarity
from workflows.checks.reading import ReadSentence

TOP = 3
RAREST = 3
SIMILAR = 0.4
"""The least share of common letter triples at which two words count as forms of one."""


class OverlapFeatures(NamedTuple):
    """The features. Shares are from 0 to 1; lengths and frequencies are logarithms."""

    best: float
    top: float
    all: float
    title: float
    similar: float
    rarest: float
    missing: float
    missing_count: float
    pairs: float
    in_order: float
    halves: float
    frequency: float
    numbers_missing: float
    names_missing: float
    claim_length: float
    evidence_length: float


class ClaimCoverage(NamedTuple):
    """A claim's stems with their weights, each sentence's share of them, and the sentences' places, best first."""

    weights: Mapping[str, float]
    shares: Sequence[float]
    order: Sequence[int]


def measure_coverage(claim: ReadSentence, evidence: Sequence[ReadSentence], rarity: WordRarity) -> ClaimCoverage:
    """Return how much of the claim each sentence covers."""
    weights = {stem: rarity.weight_of(stem) for stem in claim.stems}
    total = sum(weights.values()) or 1.0
    shares = [sum([weights[stem] for stem in claim.stem_set & sentence.stem_set]) / total for sentence in evidence]
    return ClaimCoverage(weights, shares, sorted(range(len(shares)), key=lambda i: -shares[i]))


def measure_overlap(
    claim: ReadSentence, title: ReadSentence, evidence: Sequence[ReadSentence], covered: ClaimCoverage, rarity: WordRarity
) -> OverlapFeatures:
    """Return the features of a claim and evidence of at least one sentence."""
    weights = covered.weights
    text = frozenset().union(*(sentence.stem_set for sentence in evidence))
    whole = text | title.stem_set
    top = [evidence[i] for i in covered.order[:TOP]]
    absent = [weight for stem, weight in weights.items() if stem not in text]
    alike = _group_by_first_letter(whole) if len(weights.keys() & whole) < len(weights) else {}
    likeness = {stem: 1.0 if stem in whole else _likeness_of(stem, alike.get(stem[0], ())) for stem in weights}
    total = sum(weights.values()) or 1.0
    rarest = sorted(weights, key=lambda stem: -weights[stem])[:RAREST]
    times = Counter([stem for sentence in evidence for stem in sentence.stems if stem in weights])
    return OverlapFeatures(
        best=covered.shares[covered.order[0]],
        top=rarity.share_of(weights, frozenset().union(*(sentence.stem_set for sentence in top))),
        all=rarity.share_of(weights, text),
        title=rarity.share_of(weights, title.stem_set),
        similar=sum([weight * likeness[stem] for stem, weight in weights.items()]) / total,
        rarest=sum([likeness[stem] for stem in rarest]) / len(rarest) if rarest else 0.0,
        missing=max(absent, default=0.0),
        missing_count=float(len(absent)),
        pairs=_share_of_pairs(claim, evidence),
        in_order=max(_longest_common_run(claim.stems, sentence.stems) for sentence in top) / (len(claim.stems) or 1),
        halves=_share_of_weaker_half(claim, [title, *evidence], weights),
        frequency=sum([weights[stem] * min(1.0, math.log(1 + count) / 2) for stem, count in times.items()]) / total,
        numbers_missing=_share_of_missing_numbers(claim, [title, *evidence]),
        names_missing=_share_of_missing_names(claim, evidence),
        claim_length=math.log(1 + len(claim.stems)),
        evidence_length=math.log(len(evidence)),
    )


def _share_of_pairs(claim: ReadSentence, evidence: Sequence[ReadSentence]) -> float:
    pairs = frozenset(pairwise(claim.stems))
    met = pairs.intersection(chain.from_iterable([pairwise(sentence.stems) for sentence in evidence]))
    return len(met) / (len(pairs) or 1)


def _longest_common_run(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    shared = set(one).intersection(other)
    left, right = [stem for stem in one if stem in shared], [stem for stem in other if stem in shared]
    row = [0] * (len(right) + 1)
    for stem in left:
        before = 0
        for i, met in enumerate(right, 1):
            above, left_of = row[i], row[i - 1]
            row[i] = before + 1 if stem == met else above if above > left_of else left_of
            before = above
    return row[-1]


def _share_of_weaker_half(claim: ReadSentence, sentences: Sequence[ReadSentence], weights: Mapping[str, float]) -> float:
    """Return the covered share of the claim's less covered half, in the sentence where that share is highest.

    The halves lie before and after the middle word, mostly one with the subject and one with the object: a sentence that covers
    only one half does not state the claim.
    """
    middle = len(claim.stems) // 2
    halves = [set(claim.stems[:middle]), set(claim.stems[middle:])]
    totals = [sum(weights[stem] for stem in half) or 1.0 for half in halves]
    return max(
        min(sum([weights[stem] for stem in half & sentence.stem_set]) / total for half, total in zip(halves, totals, strict=True))
        for sentence in sentences
    )


def _share_of_missing_numbers(claim: ReadSentence, sentences: Sequence[ReadSentence]) -> float:
    if not claim.numbers:
        return 0.0
    met = {number.value for sentence in sentences for number in sentence.numbers}
    return sum(number.value not in met for number in claim.numbers) / len(claim.numbers)


def _share_of_missing_names(claim: ReadSentence, evidence: Sequence[ReadSentence]) -> float:
    names = claim.names
    if not names:
        return 0.0
    text = "\n".join(sentence.text for sentence in evidence).lower()
    return sum(name not in text for name in names) / len(names)


def _group_by_first_letter(stems: Iterable[str]) -> Mapping[str, Sequence[str]]:
    found = defaultdict[str, list[str]](list)
    for stem in stems:
        found[stem[0]].append(stem)
    return found


def _likeness_of(stem: str, others: Iterable[str]) -> float:
    """Return the likeness of the most similar other stem, by letter triples (Dice); 0 when none is similar."""
    own = _triples_of(stem)
    best = max([_dice_of(own, _triples_of(other)) for other in others], default=0.0)
    return best if best >= SIMILAR else 0.0


def _dice_of(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def _triples_of(stem: str) -> frozenset[str]:
    marked = f"#{stem}#"
    return frozenset(marked[i : i + 3] for i in range(len(marked) - 2))
