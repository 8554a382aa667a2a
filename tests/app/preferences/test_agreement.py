"""Kappas against tables worked by hand or known from the literature, and their edges."""

import pytest

from app.preferences.service.agreement import Agreement, cohens_kappa, fleiss_kappa, pairwise_kappas

# 14 raters put each of 10 subjects into one of 5 categories; P = .378, Pe = .213, kappa = .210.
FLEISS = """
0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7"""


def answers(row: str) -> list[int]:
    return [category for category, count in enumerate(row.split()) for _ in range(int(count))]


def test_cohens_kappa_of_a_table_worked_by_hand() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: observed 35/50; by chance .5 x .6 + .5 x .4 = .5; (.7 - .5) / (1 - .5) = .4
    first = "y" * 20 + "y" * 5 + "n" * 10 + "n" * 15
    second = "y" * 20 + "n" * 5 + "y" * 10 + "n" * 15
    assert cohens_kappa(first, second) == pytest.approx((50, 0.7, 0.4))


def test_cohens_kappa_can_be_worse_than_chance() -> None:
    assert cohens_kappa("ab" * 10, "ba" * 10) == pytest.approx((20, 0.0, -1.0))


def test_fleiss_kappa_of_the_known_table() -> None:
    found = fleiss_kappa([answers(row) for row in FLEISS.strip().splitlines()])
    assert found.items == 10
    assert found.observed == pytest.approx(0.378, abs=5e-4)
    assert found.kappa == pytest.approx(0.210, abs=5e-4)


def test_fleiss_kappa_worked_by_hand_with_uneven_numbers_of_answers() -> None:
    # Items aab, aa, bb (and one lone c): agreement 1/3, 1, 1, mean 7/9; a 4/7, b 3/7, chance 25/49; (7/9 - 25/49) / (24/49)
    found = fleiss_kappa(["aab", "aa", "bb", "c"])
    assert found == pytest.approx((3, 7 / 9, (7 / 9 - 25 / 49) / (24 / 49)))


@pytest.mark.parametrize("found", [cohens_kappa("aaaa", "aaaa"), fleiss_kappa(["aaa", "aa", "aaaa"])])
def test_where_everybody_always_says_the_same_kappa_is_undefined_and_the_observed_agreement_is_told(found: Agreement) -> None:
    assert (found.observed, found.kappa) == (1.0, None)


@pytest.mark.parametrize("found", [cohens_kappa("", ""), fleiss_kappa([]), fleiss_kappa(["a", "b"])])
def test_a_single_annotator_agrees_with_nobody(found: Agreement) -> None:
    assert found == (0, None, None)


def test_two_annotators_who_each_have_one_answer_of_their_own_agree_as_by_chance() -> None:
    assert cohens_kappa("aaa", "bbb") == (3, 0.0, 0.0)


def test_different_items_are_refused() -> None:
    with pytest.raises(ValueError, match="same items"):
        cohens_kappa("ab", "a")


def test_every_two_annotators_are_compared_over_what_both_judged() -> None:
    said = {"ann": {"p": "a", "q": "b", "r": "a"}, "bob": {"q": "b", "r": "b"}, "eve": {"x": "a"}}
    found = pairwise_kappas(said)
    assert found["ann", "bob"] == pytest.approx((2, 0.5, 0.0))
    assert found["ann", "eve"] == (0, None, None)
    assert set(found) == {("ann", "bob"), ("ann", "eve"), ("bob", "eve")}
