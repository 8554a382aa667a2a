"""Quantities with their units, dates and ordinals, as texts write them."""

import pytest

from retrieval.language.quantities import QuantityKind, read_quantities
from retrieval.language.traditional import simplify


def told(text: str) -> list[tuple[str, float, str]]:
    return [(q.kind.value, q.value, q.unit) for q in read_quantities(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 km", "5,000 metres"),
        ("350 thousand", "350,000"),
        ("three hundred and twelve", "312"),
        ("twenty-five thousand", "25,000"),
        ("three million two hundred thousand", "3,200,000"),
        ("forty millions", "40 million"),
        ("40 millions", "40 million"),
        ("a thousand and one", "1,001"),
        ("two and a half million", "2.5 million"),
        ("a million and a half", "1.5 million"),
        ("four and one-half per cent", "4.5%"),
        ("two dozen", "24"),
        ("between twenty and thirty", "20, 30"),
        ("two hundred and three hundred", "200, 300"),
        ("two twenty-year plans", "2, 20 years"),
        ("a quarter", "25%"),
        ("half a year", "six months"),
        ("百分之六十八", "68%"),
        ("三分之一", "a third"),
        ("八十万人", "800,000"),
        ("为期十二周", "12 weeks"),
        ("四成", "40 per cent"),
        ("€90 million", "90 million euros"),
        ("World War II", "the Second World War"),
        ("第三艘", "third"),
        ("1931年3月", "March 1931"),
        ("20世纪90年代", "1990s"),
        ("二十世纪九十年代", "1990s"),
        ("十九世纪", "the 19th century"),
        ("2019–21", "2019 to 2021"),
        ("the war of 1914-18", "from 1914 to 1918"),
    ],
)
def test_the_same_quantity_reads_the_same_however_it_is_written(one: str, other: str) -> None:
    assert sorted(told(one)) == sorted(told(other)) != []


@pytest.mark.parametrize(("one", "other"), [("5 km", "5 miles"), ("$5", "£5"), ("12周", "12天"), ("3.2 million", "3.2 billion")])
def test_another_unit_is_another_quantity(one: str, other: str) -> None:
    assert told(one) != told(other)


def test_the_first_number_of_a_range_has_the_unit_of_the_second() -> None:
    assert told("from 3.1 to 4.2 million tonnes")[0] == ("amount", 3.1e12, "gram")


def test_a_fall_to_a_larger_unit_is_no_range_of_it() -> None:
    assert told("from 800 to 1.2 million")[0] == ("amount", 800, "")


@pytest.mark.parametrize("text", ["thousands of men", "one of them", "a year and a half", "dozens"])
def test_what_gives_no_number_is_no_quantity(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize("text", ["2001-03", "2001-03-14", "2010/11/05", "2019–20%"])
def test_a_month_or_a_share_behind_a_year_is_no_second_year(text: str) -> None:
    assert [q.value for q in read_quantities(text) if q.kind is QuantityKind.YEAR] == [float(text[:4])]


def test_may_is_a_month_only_in_a_date() -> None:
    assert QuantityKind.MONTH in {q.kind for q in read_quantities("It opened in May 1950.")}
    assert read_quantities("It may open.") == ()


def test_traditional_ideographs_are_read_as_simplified_ones_in_their_places() -> None:
    assert simplify("圖書館沒有導覽") == "图书馆没有导览"
