"""How many of a claim's words the evidence has. Words are weighted by rarity."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise

from workflows.checks.rarity import WordRarity
from workflows.checks.reading import ReadSentence

SIMILAR = 0.4
"""The least share of common letter triples at which two words count as forms of one."""


def rank_by_coverage(claim: ReadSentence, evidence: Sequence[ReadSentence], rarity: WordRarity) -> list[int]:
    """Return the places of the sentences, that with most of the claim's words first."""
    weights = _weigh_stems(claim, rarity)
    shares = [sum([weights[stem] for stem in weights.keys() & sentence.stem_set]) for sentence in evidence]
    return sorted(range(len(shares)), key=lambda place: -shares[place])


def measure_likeness(claim: ReadSentence, evidence: Sequence[ReadSentence], rarity: WordRarity) -> float:
    """Return the share of the claim's words that the evidence has, from 0 to 1; similar forms of a word count in part."""
    weights = _weigh_stems(claim, rarity)
    whole = frozenset[str]().union(*(sentence.stem_set for sentence in evidence))
    alike = _group_by_first_letter(whole) if weights.keys() - whole else {}
    found = [weight * (1.0 if stem in whole else _likeness_of(stem, alike.get(stem[0], ()))) for stem, weight in weights.items()]
    return sum(found) / (sum(weights.values()) or 1.0)


def measure_pairs(claim: ReadSentence, evidence: Iterable[ReadSentence]) -> float:
    """Return the share of the claim's pairs of neighbouring words that the evidence has, from 0 to 1."""
    pairs = frozenset(pairwise(claim.stems))
    met = pairs.intersection(chain.from_iterable([pairwise(sentence.stems) for sentence in evidence]))
    return len(met) / (len(pairs) or 1)


def _weigh_stems(claim: ReadSentence, rarity: WordRarity) -> Mapping[str, float]:
    return {stem: rarity.weight_of(stem) for stem in claim.stems}


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
