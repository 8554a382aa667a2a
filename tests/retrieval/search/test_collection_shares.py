"""Several collections searched at once: who is heard among the first places, and that nothing else changes."""

import random

from retrieval.search.collection_shares import RankedCandidate, share_places


def ranking(seed: int) -> list[RankedCandidate]:
    chance = random.Random(seed)
    size = chance.randrange(1, 60)
    return [RankedCandidate(chance.choice("abc"), f"d{chance.randrange(20)}", chance.random() < 0.5) for _ in range(size)]


def test_nothing_is_lost_and_a_collection_that_is_owed_more_gets_it_only_by_what_is_good() -> None:
    for seed in range(200):
        given = ranking(seed)
        limit = seed % 20 + 1
        order = share_places(range(len(given)), given, limit)
        assert sorted(order) == list(range(len(given)))
        before, after = set(range(limit)), set(order[:limit])
        assert all(given[place].good for place in after - before)
        owed = max(1, limit // (2 * len({c.collection for c in given})))
        for place in before - after:
            if place < len(given):
                assert sum(given[other].collection == given[place].collection for other in after) >= owed


def test_one_collection_or_too_few_places_change_nothing() -> None:
    alone = [RankedCandidate("a", f"d{place}", True) for place in range(9)]
    assert share_places("ABCDEFGHI", alone, 4) == list("ABCDEFGHI")
    two = [RankedCandidate("a", "d1", True), RankedCandidate("b", "d2", True)]
    assert share_places("AB", two, 1) == ["A", "B"]


def test_a_quarter_of_the_places_is_owed_to_the_second_of_two_and_its_documents_take_turns() -> None:
    first = [RankedCandidate("a", f"d{place}", True) for place in range(20)]
    other = [
        RankedCandidate("b", "one", True),
        RankedCandidate("b", "one", True),
        RankedCandidate("b", "two", True),
        RankedCandidate("b", "three", False),
    ]
    order = share_places(range(24), [*first, *other], 8)
    assert order[:8] == [0, 1, 2, 3, 4, 5, 20, 22]
    nothing_good = [candidate._replace(good=False) for candidate in other]
    assert share_places(range(24), [*first, *nothing_good], 8) == list(range(24))
