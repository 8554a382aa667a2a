"""Near-copies among texts: the search leaves nothing out that a comparison of all with all finds."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from training.decontamination.near_copies import WordOverlap

WORDS = st.sampled_from(["tariff", "canal", "navy", "the", "of", "silver", "bank", "railway", "1900", "新能源", "汽车电池"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=9).map(" ".join), min_size=2, max_size=12)


@given(TEXTS, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_every_pair_that_is_alike_is_found(texts: list[str], least: float) -> None:
    overlap, all_of_them = WordOverlap(texts, least), WordOverlap(texts, 0.0)
    likeness = {
        (one, other): all_of_them.find_near(texts[one]).get(other, 0.0) for one, other in combinations(range(len(texts)), 2)
    }
    assert set(overlap.list_pairs()) == {pair for pair, found in likeness.items() if found >= least}


@given(TEXTS)
def test_likeness_is_a_share_and_a_text_is_most_like_itself(texts: list[str]) -> None:
    overlap = WordOverlap(texts)
    for place, text in enumerate(texts):
        near = overlap.find_near(text)
        assert abs(near[place] - 1.0) < 1e-9
        assert all(0.0 <= likeness <= 1.0 + 1e-9 for likeness in near.values())


def test_one_changed_word_in_five_hides_nothing() -> None:
    others = [f"What became of the {name} after the war?" for name in ("navy", "bank", "railways", "farmers", "ports")]
    known = [
        "How did the presidents of the United States justify high tariffs on wool before the Civil War?",
        "新能源汽车电池回收的产业链现状与未来趋势如何影响上游材料价格",
    ]
    overlap = WordOverlap([*known, *others])
    assert 0 in overlap.find_near(
        "How have the presidents of the United States defended high tariffs on cotton before the Civil War?"
    )
    assert 1 in overlap.find_near("新能源汽车电池回收的产业链近况与未来方向如何影响上游材料成本")
    assert overlap.find_near("Which presidents spoke about wool?") == {}
