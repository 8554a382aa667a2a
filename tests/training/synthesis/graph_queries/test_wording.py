"""What code reads in the words that say a condition, and how clues are weakened."""

import pytest

from training.synthesis.graph_queries.conditions import Condition, ConditionKind
from training.synthesis.graph_queries.naming import find_told, list_telling_names, mask_names
from training.synthesis.graph_queries.nouns import Category
from training.synthesis.graph_queries.obfuscation import weaken
from training.synthesis.graph_queries.wording import says_condition


def condition(kind: ConditionKind, value: str = "", low: float | None = None, high: float | None = None) -> Condition:
    return Condition(id="c1", kind=kind, about="answer", value=value, low=low, high=high)


@pytest.mark.parametrize(
    ("phrase", "says"),
    [
        ("in the 1860s", True),
        ("in 1863", True),
        ("between 1860 and 1869", True),
        ("1860年代", True),
        ("19世纪60年代", True),
        ("in the 1870s", False),
        ("19世纪70年代", False),
        ("long ago", False),
    ],
)
def test_a_span_of_years_is_said_as_a_decade_or_with_a_year_in_it(phrase: str, says: bool) -> None:
    span = condition(ConditionKind.YEAR, low=1860, high=1869).model_copy(update={"phrase": phrase})
    assert says_condition(span) == says


@pytest.mark.parametrize(("phrase", "says"), [("between 8 and 9 km", True), ("8,848 metres high", True), ("9.9 km", False)])
def test_an_amount_is_read_in_any_unit(phrase: str, says: bool) -> None:
    bounds = condition(ConditionKind.NUMBER, "metre", 8_000, 9_000).model_copy(update={"phrase": phrase})
    assert says_condition(bounds) == says


@pytest.mark.parametrize(
    ("strong", "weak"),
    [
        (condition(ConditionKind.YEAR, low=1865, high=1865), condition(ConditionKind.YEAR, low=1860, high=1869)),
        (condition(ConditionKind.NUMBER, "metre", 8848, 8848), condition(ConditionKind.NUMBER, "metre", 8000, 9000)),
        (condition(ConditionKind.KIND, "novel"), condition(ConditionKind.CATEGORY, "work")),
        (condition(ConditionKind.KIND, "诗人"), condition(ConditionKind.CATEGORY, "person")),
        (condition(ConditionKind.YEAR, low=1860, high=1869), None),
        (condition(ConditionKind.KIND, "whatsit"), None),
    ],
)
def test_a_strong_clue_has_a_weaker_form(strong: Condition, weak: Condition | None) -> None:
    assert weaken(strong) == weak


@pytest.mark.parametrize(
    ("name", "category", "text", "told"),
    [
        ("José Ortega", Category.PERSON, "the ORTEGA family", "Ortega"),
        ("José Ortega", Category.PERSON, "a man named Jose  Ortegal", ""),
        ("Paris", Category.PLACE, "a comparison", ""),
        ("亞伯拉罕·林肯", Category.PERSON, "林肯的演说", "林肯"),
        ("臺北", Category.PLACE, "台北的街道", "臺北"),
    ],
)
def test_a_name_is_told_in_any_case_accents_and_script(name: str, category: Category, text: str, told: str) -> None:
    names = list_telling_names(name, (), category)
    assert find_told(names, text) == told
    assert not find_told(names, mask_names(names, text))
