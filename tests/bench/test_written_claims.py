import pytest

from bench.labelled_sets import DATA
from bench.written_claims import read_written_claims
from training.synthesis.claim_support.pairs import BUILD, JUDGE

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not at ../shared/data")


def test_every_claim_has_its_passage_and_no_document_is_in_both_halves() -> None:
    build, judge = read_written_claims(BUILD), read_written_claims(JUDGE)
    assert not build.keys() & judge.keys()
    for half in (build, judge):
        pairs = [pair for of_one in half.values() for pair in of_one]
        assert all(pair.claim and pair.evidence for pair in pairs)
        right = sum(pair.right for pair in pairs) / len(pairs)
        assert 0.35 < right < 0.6
