"""Words, stems and units of English, Chinese and mixed sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.script import is_ideograph
from retrieval.language.stems import find_root, stem_word
from retrieval.language.stop_words import STOP_WORDS, split_at_stop_words
from retrieval.language.tokens import list_stems, split_pairs, split_units, split_words


def words(text: str) -> list[str]:
    return [word.text for word in split_words(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith's up-regulated genes", ["dr", "smith's", "up-regulated", "genes"]),
        ("It fell to 1,234.5, or 3.5%.", ["it", "fell", "to", "1,234.5", "or", "3.5"]),
        ("don’t use snake_case or A/B", ["don’t", "use", "snake_case", "or", "a/b"]),
        ("Müller’s café in Łódź", ["müller’s", "café", "in", "łódź"]),
        ("关税法保护工人。", ["关税", "税法", "法保", "保护", "护工", "工人"]),
        ("工人的工资", ["工人", "工资"]),
        ("2024年GDP增长3.5%", ["2024", "年", "gdp", "增长", "3.5"]),
        ("！？…", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_words_in_ascii_are_the_same_beside_other_punctuation() -> None:
    plain = "The tariff's rates rose to 3.5 in the U.S. market"
    assert words(f"“{plain}” —") == words(plain)


def test_stop_words_have_no_stem_and_negations_are_none() -> None:
    assert list_stems("The wages of the workers were not raised") == ["wag", "worker", "not", "rais"]
    assert {"the", "of", "although"} < STOP_WORDS
    assert STOP_WORDS.isdisjoint({"no", "not", "never", "without", "cannot"})
    assert split_at_stop_words("他们是在北京和上海的工人") == ["他", "北京", "上海", "工人"]


@pytest.mark.parametrize(
    "forms", ["inhibit inhibits inhibited inhibition", "tariff tariffs tariff's", "increase increased increasing"]
)
def test_forms_of_a_word_share_a_stem(forms: str) -> None:
    assert len({stem_word(form) for form in forms.split()}) == 1
    assert len({find_root(form.removesuffix("'s")) for form in forms.split()}) == 1


def test_roots_bring_irregular_forms_together_and_light_stems_keep_nouns_apart() -> None:
    assert find_root("paid") == find_root("pays")
    assert find_root("men") == find_root("man")
    assert find_root("improvement") == find_root("improve")
    assert stem_word("improvement") != stem_word("improve")
    assert stem_word("关税") == "关税"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't_panic: 3.5%!", ["Don", "t", "panic", "3", "5"]),
        ("GDP增长3.5%", ["GDP", "增", "长", "3", "5"]),
        ("Straße_7", ["Straße", "7"]),
    ],
)
def test_units(text: str, expected: list[str]) -> None:
    assert split_units(text) == expected


def test_pairs_overlap_and_one_stays_alone() -> None:
    assert split_pairs("北京市") == ["北京", "京市"]
    assert split_pairs("京") == ["京"]


@given(st.text(alphabet=st.sampled_from("aB é1_-'’.,的中文豈 \n")) | st.text())
def test_every_letter_is_in_a_unit_and_words_are_in_lower_case(text: str) -> None:
    assert "".join(split_units(text)) == "".join(char for char in text if char.isalnum())
    assert all(word.text == word.text.lower() and not word.text.isspace() for word in split_words(text))
    assert all(len(unit) == 1 or not any(map(is_ideograph, unit)) for unit in split_units(text))
