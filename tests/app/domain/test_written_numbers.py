"""Numbers as they are written in English, Chinese, German, French, Switzerland and India."""

import pytest

from app.domain.written_numbers import find_numbers

FORMS = {
    "7": 7,
    "1234": 1234,
    "1,234": 1234,
    "1,234,567": 1_234_567,
    "12,34,567": 1_234_567,
    "1,00,000 rupees": 100_000,
    "58 000 km²": 58_000,
    "58\u00a0000": 58_000,
    "58\u2009000": 58_000,
    "58\u202f000\u202f000": 58_000_000,
    "1'234'567": 1_234_567,
    "1’234.50": 1234.5,
    "1.234.567": 1_234_567,
    "1.234,56": 1234.56,
    "1 234,5": 1234.5,
    "12,5 %": 12.5,
    "3,75": 3.75,
    "0.05": 0.05,
    ".5": 0.5,
    "3·5": 3.5,
    "1.234": 1.234,
    "1,234.5": 1234.5,
    "１２３": 123,
    "1，234": 1234,
    "£2.3bn": 2.3e9,
    "$5m": 5e6,
    "$5 m": 5,
    "€50k": 50_000,
    "$1.5 trillion": 1.5e12,
    "2.5 million": 2.5e6,
    "40 millions": 4e7,
    "350 thousand": 350_000,
    "3 hundred": 300,
    "2 dozen": 24,
    "2.3 bn": 2.3e9,
    "5 mn": 5e6,
    "US$3 tn": 3e12,
    "5-million": 5e6,
    "3 lakh": 300_000,
    "1.2 crore": 1.2e7,
    "2,5 Millionen": 2.5e6,
    "2,5 Mio. Euro": 2.5e6,
    "3 Milliarden": 3e9,
    "3,2 Mrd. €": 3.2e9,
    "4 Billionen": 4e12,
    "12 Tsd.": 12_000,
    "1,5 million d’euros": 1.5e6,
    "2 milliards": 2e9,
    "5万": 50_000,
    "5萬": 50_000,
    "1.2万亿元": 1.2e12,
    "1亿2000万人": 1.2e8,
    "3万5千元": 35_000,
    "3亿人": 3e8,
    "3億": 3e8,
    "6千": 6_000,
    "20 十亿": 2e10,
    "½": 0.5,
    "3½": 3.5,
    "2 ¾": 2.75,
    "2 1/2": 2.5,
    "3 × 10^8": 3e8,
    "1.5 x 10^-3": 0.0015,
    "6·10²³": 6e23,
    "2×10⁻⁴": 0.0002,
    "5 m": 5,
    "5 miles": 5,
    "10 minutes": 10,
    "5%": 5,
}


@pytest.mark.parametrize("written", FORMS)
def test_a_number_has_its_value_however_it_is_written(written: str) -> None:
    assert [number.value for number in find_numbers(written)] == [pytest.approx(FORMS[written])]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Der Anteil stieg von 3,5 auf 1.234 Stück.", [3.5, 1234]),
        ("It grew from 3.5 to 1,234.", [3.5, 1234]),
        ("In 1914,1915 and 1,2,3", [1914, 1915, 1, 2, 3]),
        ("PCSK9, mRNA1 and version 1.2.3", [1.2]),
        ("In 1999 200 people came; in 2008 100.", [1999, 200, 2008, 100]),
        ("10–12 million", [10, 12e6]),
        ("It ended in 2010. 5 men stayed.", [2010, 5]),
    ],
)
def test_numbers_of_a_text(text: str, values: list[float]) -> None:
    assert [number.value for number in find_numbers(text)] == pytest.approx(values)


@pytest.mark.parametrize("text", ["−5 %", "-5", "fell to -$3", "minus 4", "loss of ($1,234)", "负5%", "(-3)"])
def test_what_is_below_zero(text: str) -> None:
    assert [number.negative for number in find_numbers(text)] == [True]


@pytest.mark.parametrize("text", ["10-5", "2019-20", "(12)", "Covid-19", "pages 3–5"])
def test_a_hyphen_is_no_minus(text: str) -> None:
    assert not any(number.negative for number in find_numbers(text))
