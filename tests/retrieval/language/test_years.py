import pytest

from retrieval.language.years import find_years, remove_years


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("What happened in 1863?", (1863, 1863)),
        ("Tariffs between 1890 and 1900", (1890, 1900)),
        ("wages from 2010 to 2015", (2010, 2015)),
        ("Banking in the 1930s", (1930, 1939)),
        ("Trade in the 1800s", (1800, 1899)),
        ("How has it grown since 1990?", (1990, None)),
        ("treaties before the year 1812", (None, 1811)),
        ("prices until 1812", (None, 1812)),
        ("wages after 1812", (1813, None)),
        ("20世纪以前，1990年代的变化", (1990, 1999)),
        ("2010年以来的政策", (2010, None)),
        ("1949年以前的税法", (None, 1948)),
    ],
)
def test_the_years_that_a_question_names(text: str, years: tuple[int | None, int | None]) -> None:
    assert find_years(text) == years


@pytest.mark.parametrize("text", ["How long is it?", "It cost $1950", "1,863 ships", "1863.5 tons", "model 18630", "1950% more"])
def test_amounts_and_long_numbers_are_no_years(text: str) -> None:
    assert find_years(text) is None


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Who was jailed in the 1930s, and why?", "Who was jailed in the , and why?"),
        ("It cost $1950 in 1863", "It cost $1950 in"),
        ("1990年代的变化", "的变化"),
    ],
)
def test_a_question_without_its_years(text: str, rest: str) -> None:
    assert remove_years(text) == rest
