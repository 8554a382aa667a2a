"""Selecting sentences that say something new: maximal marginal relevance, and no near-duplicates at all."""

from collections.abc import Callable, Iterable, Sequence

from workflows.agents.extractive.sentences import Sentence

REPEATS = 0.6
CONTAINED = 0.8
NOVELTY = 0.45


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of terms two sentences have in common (Jaccard), from 0 to 1."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def repeats(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences say the same thing in nearly the same words, or one holds the other."""
    shared, shorter = len(one & other), min(len(one), len(other))
    if shorter == 0:
        return not one and not other
    return likeness(one, other) >= REPEATS or (shorter >= 4 and shared / shorter >= CONTAINED)


def select(
    candidates: Sequence[tuple[float, Sentence]],
    limit: int,
    taken: Iterable[Sentence] = (),
    allows: Callable[[Sentence, list[Sentence]], bool] | None = None,
) -> list[Sentence]:
    """Up to `limit` sentences by relevance and novelty (MMR), best first; none repeats another or one already `taken`.

    `allows` may refuse a sentence given those chosen so far, as for too many from one source.
    """
    against = [sentence.term_set for sentence in taken]
    left = [
        (score, sentence)
        for score, sentence in candidates
        if score > 0 and not any(repeats(sentence.term_set, t) for t in against)
    ]
    closest = [max((likeness(sentence.term_set, t) for t in against), default=0.0) for _, sentence in left]
    chosen: list[Sentence] = []
    while left and len(chosen) < limit:
        best = max(range(len(left)), key=lambda i: (left[i][0] * (1 - NOVELTY * closest[i]), -i))
        sentence = left[best][1]
        if allows is None or allows(sentence, chosen):
            chosen.append(sentence)
            near = [repeats(other.term_set, sentence.term_set) for _, other in left]
        else:
            near = [other is sentence for _, other in left]
        kept = [i for i in range(len(left)) if i != best and not near[i]]
        closest = [
            max(closest[i], likeness(left[i][1].term_set, sentence.term_set)) if chosen and chosen[-1] is sentence else closest[i]
            for i in kept
        ]
        left = [left[i] for i in kept]
    return chosen
