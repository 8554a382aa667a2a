"""Claims that cite in brackets: which sentence a citation belongs to."""

import pytest

from training.rewards.bracketed_claims import bracketed_claims_of


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("It rose [p1].", [("It rose.", ("p1",))]),
        ("It rose. [p1][p2]", [("It rose.", ("p1", "p2"))]),
        ("It rose [p1, p2], they say.", [("It rose", ("p1", "p2")), (", they say.", ())]),
        ("Free. It rose [p1] and fell [p2].", [("Free.", ()), ("It rose", ("p1",)), ("and fell.", ("p2",))]),
        ("- it rose [p1]\n- it fell [P2]", [("- it rose", ("p1",)), ("- it fell", ("p2",))]),
        ("关税上升了[p1]。南方反对它【p2】。", [("关税上升了", ("p1",)), ("南方反对它。", ("p2",))]),
        ('<cite id="p3">It rose.</cite> It fell.', [("It rose.", ("p3",)), ("It fell.", ())]),
        ("[p1]", []),
        ("It rose [q1].", [("It rose [q1].", ())]),
    ],
)
def test_a_citation_belongs_to_the_sentence_before_it(answer: str, claims: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(claim.text, claim.ids) for claim in bracketed_claims_of(answer)] == claims
