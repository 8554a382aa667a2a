"""The trees that say whether a claim may be called fully supported."""

from math import exp

import pytest

from app.domain.claims import Support
from workflows.checks.full_support import load_support_trees, trees_of
from workflows.checks.grading import Evidence, grade_claim, measure_claim
from workflows.checks.vetoes.veto import find_vetoes

FERRY = Evidence(
    "Ferry",
    ["The ferry between Lund and the island was bought by the harbour company in 1998.", "It carries about 200 people a day."],
)
SMALL = {
    "features": ["unknown", "pairs"],
    "bias": 0.5,
    "full": 0.6,
    "doubted": 0.3,
    "warned": 0.1,
    "trees": [[[0, 0.2, 1, 2], [1.0], [-2.0]], [[0.25]]],
}


@pytest.mark.parametrize(("unknown", "score"), [(0.1, 1.75), (0.2, 1.75), (0.3, -1.25)])
def test_the_leaves_of_all_trees_add_up(unknown: float, score: float) -> None:
    chance = trees_of(SMALL).probability_of({"unknown": unknown, "pairs": 0.0, "unread": 9.0})
    assert chance == pytest.approx(1 / (1 + exp(-score)))


def test_the_shipped_trees_read_what_is_measured() -> None:
    trees = load_support_trees()
    read, _ = measure_claim("The harbour company bought the ferry in 1998.", FERRY)
    assert set(trees.features) == set(read)
    assert 0 < trees.warned < trees.doubted < trees.full < 1


def test_all_vetoes_are_found_and_one_that_is_true_is_told() -> None:
    claim = "The ferry was bought by Anna Holm in 1989."
    found = find_vetoes(claim, FERRY.title, tuple(FERRY.sentences))
    assert len({veto.reason for veto in found.vetoes}) >= 2
    assert found.unknown_names == 2
    grade = grade_claim(claim, FERRY)
    assert grade.veto in found.vetoes
    assert grade.support is not Support.FULL


def test_a_claim_without_a_word_in_common_is_never_full() -> None:
    assert grade_claim("Parliament debated the price of bread.", FERRY).support is not Support.FULL
    assert grade_claim("“…”", FERRY).support is not Support.FULL
