"""DeepRubric's citation reward: worked by hand, for all inputs, and against those who would cheat it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.missing import Missing
from training.rewards.citations import (
    CitedVerdict,
    Recall,
    UncitedVerdict,
    Verdict,
    citation_format_reward,
    citation_reward,
    distribution_of,
    f1,
    mean_f1,
    meaningful_share_of,
    validity_of,
)
from training.rewards.cited_claims import CitedClaim, cited_claims_of

STORE = {"a", "b", "c"}
FULL = CitedVerdict(Recall.FULL, relevant=1)
PARTIAL = CitedVerdict(Recall.PARTIAL, relevant=1)
UNSUPPORTED = CitedVerdict(Recall.NONE, relevant=0)
FREE, OWED = UncitedVerdict(needs_citation=False), UncitedVerdict(needs_citation=True)
LONG = "The tariff of 1828 raised the rates on imported wool"


def cite(name: str, text: str = LONG) -> str:
    return f'<cite id="{name}">{text}</cite>'


def test_claims_are_cite_spans_and_the_sentences_between_them() -> None:
    answer = f"Tariffs rose. {cite('a, b')} That hurt the South. {cite('zz', 'Cotton fell.')}"
    assert [(claim.text, claim.ids) for claim in cited_claims_of(answer)] == [
        ("Tariffs rose.", ()),
        (LONG, ("a", "b")),
        ("That hurt the South.", ()),
        ("Cotton fell.", ("zz",)),
    ]


def test_chinese_sentences_are_claims() -> None:
    found = cited_claims_of(f"关税上升了。南方反对它！{cite('a', '一八二八年的关税提高了羊毛税率')}")
    assert [claim.text for claim in found] == ["关税上升了。", "南方反对它！", "一八二八年的关税提高了羊毛税率"]


def test_a_sentence_said_again_is_one_claim() -> None:
    assert len(cited_claims_of(f"{cite('a')} {cite('a', LONG.upper())} {cite('a')}.")) == 1


@pytest.mark.parametrize(
    ("first", "again", "claims"),
    [
        ("The duty of 1828 rose", "THE DUTY, of 1828: rose!", 1),
        ("The duty of 1828 rose", "The duty of_1828 rose", 1),
        ("The duty of 1828 rose", "The duty of 1829 rose", 2),
        ("Die Straße von 1828", "DIE «STRASSE» VON 1828", 1),
        ("Die Strasse von 1828", "Die Straße von 1828", 1),
        ("关税上升了", "关税，上升了", 2),
    ],
)
def test_only_words_tell_claims_apart(first: str, again: str, claims: int) -> None:
    assert len(cited_claims_of(cite("a", first) + cite("a", again))) == claims


def test_a_tag_without_a_span_is_text_and_hides_none() -> None:
    answer = f'<cite id="a">Cotton <cite id="b">fell.</cite> Wool rose. {cite("c")} <cite id="Silk rose too">Left open.'
    found = [
        ('Cotton <cite id="b">fell.', ("a",)),
        ("Wool rose.", ()),
        (LONG, ("c",)),
        ('<cite id="Silk rose too">Left open.', ()),
    ]
    assert [(claim.text, claim.ids) for claim in cited_claims_of(answer)] == found
    assert len(cited_claims_of('<cite id="a">' * 200_000)) < 10  # tried anew from every tag it would never end


@pytest.mark.parametrize(
    ("recall", "precision", "expected"), [(1, 1, 1), (0.5, 1, 2 / 3), (0, 1, 0), (1, 0, 0), (0, 0, 0), (1, 0.5, 2 / 3)]
)
def test_f1(recall: float, precision: float, expected: float) -> None:
    assert f1(recall, precision) == pytest.approx(expected)


def test_a_worked_report() -> None:
    """Two cited claims (full, partial), one uncited that owes a citation, one that does not. They have 5, 6 and 3 words."""
    answer = f"{cite('a')}. {cite('b', LONG + ' in the north')}. Prices doubled in a year. In short, that was it."
    claims = cited_claims_of(answer)
    verdicts = [FULL, PARTIAL, OWED, FREE]
    assert mean_f1(claims, verdicts, STORE) == pytest.approx((5 * 1 + 6 * 2 / 3 + 3 * 0) / 14)
    assert mean_f1(claims, verdicts, STORE, published=True) == pytest.approx((1 + 2 / 3 + 0 + 1) / 4)
    # Q = 1; two ids of the six that are enough; the distribution from their places.
    places = [claims[0].position, claims[1].position]
    d = distribution_of(places)
    assert citation_format_reward(claims, STORE) == pytest.approx(0.7 + 0.1 * d + 0.2 * 2 / 6)
    assert citation_reward(claims, verdicts, STORE) == pytest.approx(0.6 * 9 / 14 + 0.4 * (0.7 + 0.1 * d + 0.2 / 3))


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ([], 0.0),
        ([0.5], 0.4 * 0 + 0.4 * 1 + 0.2 * 1),
        ([0.0], 0.4 * 0 + 0.4 * 0 + 0.2 * 0),
        ([0.25, 0.75], 0.4 * 0.5 / 0.6 + 0.4 * 1 + 0.2 * 1),
        ([0.0, 1.0], 0.4 * 1 + 0.4 * 0.5 + 0.2 * 1),
        ([0.0, 0.0, 0.0], 0.4 * 0 + 0.4 * 0 + 0.2 * 0),
    ],
)
def test_distribution_by_hand(positions: list[float], expected: float) -> None:
    assert distribution_of(positions) == pytest.approx(expected)


def test_short_and_symbolic_spans_say_nothing() -> None:
    claims = cited_claims_of(cite("a") + cite("b", "Yes, it was") + cite("c", "*** 1 2 *** ---- 3 ----"))
    assert meaningful_share_of(claims) == pytest.approx(1 / 3)
    assert meaningful_share_of(cited_claims_of(cite("a", "关税在一八二八年提高了"))) == 1.0


def test_an_invented_id_is_never_an_uncited_claim() -> None:
    """With one real and one invented citation, public code pays .75 for content; here the invented one has 0."""
    claims = cited_claims_of(cite("a") + cite("made-up", "Exports fell by ninety per cent in one year"))
    assert mean_f1(claims, [FULL, None], STORE) == 0.5
    assert validity_of(claims, STORE) == 0.5
    honest = cited_claims_of(cite("a"))
    assert citation_reward(claims, [FULL, None], STORE) < citation_reward(honest, [FULL], STORE)  # type: ignore[operator]


def test_an_invented_id_beside_a_real_one_costs() -> None:
    assert mean_f1(cited_claims_of(cite("a, ghost")), [FULL], STORE) == pytest.approx(2 / 3)


def test_only_inventions_earn_nothing() -> None:
    claims = cited_claims_of("".join(cite(f"x{i}", f"{LONG} for the {i}th time") for i in range(8)))
    assert citation_reward(claims, [None] * len(claims), STORE) == 0.0


def test_filler_does_not_pay() -> None:
    claims = cited_claims_of(cite("a") + " " + " ".join(f"Let us turn to point number {i}." for i in range(20)))
    filled = [PARTIAL] + [FREE] * (len(claims) - 1)
    assert mean_f1(claims, filled, STORE) == pytest.approx(2 / 3)
    assert mean_f1(claims, filled, STORE, published=True) > 0.9  # type: ignore[operator]


def test_repeating_a_good_claim_does_not_dilute_a_bad_one() -> None:
    good, bad = f"{cite('a')}. ", cite("b", "Wool was cheaper in the year of the flood")
    once, often = cited_claims_of(good + bad), cited_claims_of(good * 9 + bad)
    assert mean_f1(often, [FULL, UNSUPPORTED], STORE) == mean_f1(once, [FULL, UNSUPPORTED], STORE) == 5 / 9


def test_no_answer_and_no_citation_earn_no_format() -> None:
    assert cited_claims_of("") == []
    assert citation_reward([], [], STORE) == 0.0
    uncited = cited_claims_of("Tariffs rose in 1828. The South objected.")
    assert citation_reward(uncited, [OWED, OWED], STORE) == 0.0


def test_a_missing_verdict_is_missing_not_zero() -> None:
    claims = cited_claims_of(cite("a") + cite("b", LONG + " again"))
    result = citation_reward(claims, [FULL, Missing("the judge timed out")], STORE)
    assert result == Missing("the judge timed out")


def test_a_verdict_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="CitedVerdict"):
        mean_f1(cited_claims_of(cite("a")), [FREE], STORE)
    with pytest.raises(ValueError, match="UncitedVerdict"):
        mean_f1(cited_claims_of("Tariffs rose."), [FULL], STORE)


ids = st.sampled_from(["a", "b", "c", "ghost"])
positions = st.floats(0, 1)
cited = st.builds(
    lambda text, names, at: CitedClaim(text, tuple(dict.fromkeys(names)), at),
    st.text(max_size=40),
    st.lists(ids, min_size=1, max_size=3),
    positions,
)
recalls = st.sampled_from(list(Recall))
judged = st.builds(
    lambda claim, recall, relevant: (claim, CitedVerdict(recall, len(STORE.intersection(claim.ids)) if relevant else 0)),
    cited,
    recalls,
    st.booleans(),
)
bare = st.tuples(
    st.builds(lambda text, at: CitedClaim(text, (), at), st.text(max_size=40), positions),
    st.builds(UncitedVerdict, st.booleans()),
)
reports = st.lists(st.one_of(judged, bare), max_size=12)


def rewarded(report: list[tuple[CitedClaim, Verdict]], published: bool = False) -> float:
    value = citation_reward([claim for claim, _ in report], [verdict for _, verdict in report], STORE, published)
    assert isinstance(value, float)
    return value


@given(reports, st.booleans())
def test_always_between_0_and_1(report: list[tuple[CitedClaim, Verdict]], published: bool) -> None:
    assert 0.0 <= rewarded(report, published) <= 1.0


@given(st.lists(positions, max_size=20))
def test_distribution_is_between_0_and_1(places: list[float]) -> None:
    assert -1e-9 <= distribution_of(places) <= 1.0 + 1e-9


@given(st.permutations(range(5)), st.lists(judged, min_size=5, max_size=5))
def test_order_does_not_count(order: list[int], report: list[tuple[CitedClaim, Verdict]]) -> None:
    assert mean_f1([report[i][0] for i in order], [report[i][1] for i in order], STORE) == pytest.approx(
        mean_f1([c for c, _ in report], [v for _, v in report], STORE)
    )


@given(reports, cited)
def test_better_support_never_lowers_the_reward(report: list[tuple[CitedClaim, Verdict]], claim: CitedClaim) -> None:
    rising = [
        rewarded([*report, (claim, CitedVerdict(recall, min(1, len(STORE.intersection(claim.ids)))))])
        for recall in (Recall.NONE, Recall.PARTIAL, Recall.FULL)
    ]
    assert rising == sorted(rising)


@given(reports, st.builds(lambda text, at: CitedClaim(text, ("ghost",), at), st.text(max_size=40), positions))
def test_an_invention_never_raises_the_content_score(report: list[tuple[CitedClaim, Verdict]], invented: CitedClaim) -> None:
    claims, verdicts = [c for c, _ in report], [v for _, v in report]
    before, after = mean_f1(claims, verdicts, STORE), mean_f1([*claims, invented], [*verdicts, None], STORE)
    assert isinstance(before, float)
    assert isinstance(after, float)
    assert after <= before
