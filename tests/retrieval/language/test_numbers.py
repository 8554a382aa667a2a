"""Numbers as values, in digits, words and scales of both languages."""

import pytest

from retrieval.language.numbers import Number, read_chinese_numeral, read_numbers
from retrieval.language.tokens import split_words


def numbers(text: str) -> set[tuple[float, str]]:
    return {(number.value, number.unit) for number in read_numbers(text, [word.text for word in split_words(text)])}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Of 1,234 people twelve, or 3.5%, paid 2 million on the 4th.", {(1234, ""), (12, ""), (3.5, "%"), (2e6, ""), (4, "")}),
        (
            "Half of the twenty firms paid twice; the third paid 3.2 per cent.",
            {(0.5, ""), (20, ""), (2, ""), (3, ""), (3.2, "%")},
        ),
        ("It cost $1.5 billion, ninety times as much.", {(1.5e9, ""), (90, "")}),
        ("2024年出口达1.2万亿元，增长3.5％", {(2024, ""), (1.2e12, ""), (3.5, "%")}),
        ("共有3亿人，其中5万人", {(3e8, ""), (5e4, "")}),
        ("PCSK9 and mRNA1 are names, version 1.2.3 is none", {(1.2, "")}),
        ("One of the first was none.", set()),
    ],
)
def test_numbers_have_values(text: str, expected: set[tuple[float, str]]) -> None:
    assert numbers(text) == expected


def test_words_are_read_only_where_they_are_given() -> None:
    assert read_numbers("twelve") == ()
    assert read_numbers("", ["twelve"]) == (Number(12, ""),)


@pytest.mark.parametrize(
    ("numeral", "value"), [("三", 3), ("十", 10), ("十二", 12), ("二十", 20), ("九十九", 99), ("一二", 12), ("十十", 10)]
)
def test_chinese_numerals(numeral: str, value: int) -> None:
    assert read_chinese_numeral(numeral) == value
