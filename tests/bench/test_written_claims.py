from itertools import combinations

import pytest

from bench.claim_pairs.pairs import BUILD, JUDGE
from bench.labelled_sets import DATA
from bench.written_claims import read_written_claims

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not at ../shared/data")


def test_every_claim_has_its_passage_and_no_document_is_in_both_halves() -> None:
    halves = {name: read_written_claims(name) for name in (BUILD, JUDGE, f"balanced_{BUILD}", f"balanced_{JUDGE}")}
    assert all(not one.keys() & other.keys() for one, other in combinations(halves.values(), 2))
    for half in halves.values():
        pairs = [pair for of_one in half.values() for pair in of_one]
        assert all(pair.claim and pair.evidence for pair in pairs)
        right = sum(pair.right for pair in pairs) / len(pairs)
        assert 0.35 < right < 0.6
