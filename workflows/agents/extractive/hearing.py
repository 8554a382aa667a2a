"""Where several collections were searched, each that has a statement near the best is heard among the first."""

from collections import Counter
from collections.abc import Sequence

from workflows.agents.extractive.novelty import repeats
from workflows.agents.extractive.sentences import Sentence

FIRST = 3
"""A reader sees these before anything else; a report on a question for one thing opens with them."""


def each_heard(scored: Sequence[tuple[float, Sentence]], chosen: Sequence[Sentence], limit: int) -> list[Sentence]:
    """The chosen statements (best first) with one of each collection among the first three, where `scored` has one of it.

    What is `scored` is already near the best. The last statement of a collection that has several makes room.
    """
    order = list(chosen)
    collections = dict.fromkeys(sentence.source.collection for _, sentence in scored)
    if len(collections) < 2 or len(collections) > FIRST:
        return order
    for collection in collections:
        if any(sentence.source.collection == collection for sentence in order[:FIRST]):
            continue
        mine = (sentence for sentence in [*order[FIRST:], *(s for _, s in scored)] if sentence.source.collection == collection)
        best = next(
            (one for one in mine if one in order or not any(repeats(one.term_set, other.term_set) for other in order)), None
        )
        if best is not None:
            order = _put_forward(order, best, limit)
    return order


def _put_forward(order: Sequence[Sentence], best: Sentence, limit: int) -> list[Sentence]:
    """The order with a statement in the place of the last of the first three that is not the only one of its collection there."""
    rest = [sentence for sentence in order if sentence is not best]
    counts = Counter(sentence.source.collection for sentence in rest[:FIRST])
    spare = [place for place, sentence in enumerate(rest[:FIRST]) if counts[sentence.source.collection] > 1]
    place = spare[-1] if spare else len(rest[:FIRST])
    return [*rest[:place], best, *rest[place:]][:limit]
