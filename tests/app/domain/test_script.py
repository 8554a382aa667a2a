"""Ideographs, and the language of a text."""

import pytest

from app.domain.query import Language, detect_language
from app.domain.script import count_ideographs, count_words, is_ideograph


def test_ideographs() -> None:
    assert all(map(is_ideograph, "中㐀鿿豈"))
    assert not any(map(is_ideograph, ["", "a", "1", "。", "ア", "한", "é"]))
    assert count_ideographs("关税 rose in 1890年。") == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The tariff of 1890.", 4),
        ("关税法保护工人。", 8),
        ("GDP 增长 3.5%", 4),
        ("", 0),
        ("## Head\n\n| a | (b) |\n|---|---|\n- $5", 4),
    ],
)
def test_words_are_counted_as_is_usual_for_each_script(text: str, expected: int) -> None:
    assert count_words(text) == expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What did the 关税法 do to wages in the United States?", Language.ENGLISH),
        ("OpenAI 的 GPT-4 是什么时候发布的？", Language.CHINESE),
        ("1890", Language.ENGLISH),
        ("", Language.ENGLISH),
        ("关税", Language.CHINESE),
    ],
)
def test_the_language_of_a_text(text: str, language: Language) -> None:
    assert detect_language(text) is language
