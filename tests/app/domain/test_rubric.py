"""A rubric's form, and the arithmetic of scorecards, by hand."""

import pytest
from pydantic import ValidationError

from app.domain.rubric import Category, Criterion, Origin, Rubric
from app.domain.scorecard import CriterionScore, Scorecard, normalise_rating, overall_of, scorecard_of


def criterion(title: str = "Title", opening: str = "Key Criterion:", weight: int = 5, said: str = "Names the year.") -> Criterion:
    return Criterion(title=title, description=f"{opening} {said}", weight=weight)


def criteria(n: int) -> tuple[Criterion, ...]:
    return tuple(criterion(f"Title {number}") for number in range(n))


@pytest.mark.parametrize(
    ("opening", "category", "weights"),
    [
        ("Key Criterion:", Category.KEY, {5}),
        ("important criterion:", Category.IMPORTANT, {3, 4}),
        ("Optional Criterion:", Category.OPTIONAL, {1, 2}),
        ("Error Criterion:", Category.ERROR, {-1, -2}),
        ("错误标准：", Category.ERROR, {-1, -2}),
    ],
)
def test_the_opening_is_the_category_and_binds_the_weight(opening: str, category: Category, weights: set[int]) -> None:
    allowed = set()
    for weight in range(-3, 7):
        try:
            made = criterion(opening=opening, weight=weight)
        except ValidationError:
            continue
        allowed.add(weight)
        assert (made.category, made.demand) == (category, "Names the year.")
    assert allowed == weights


@pytest.mark.parametrize(
    "description",
    ["Names the year.", "Key: names the year.", "Key Criterion:", "Key Criterion: !", "Key Criterion: Names the year. And more.",
     "关键标准：写明年份。写明地点。"],
)  # fmt: skip
def test_a_description_without_an_opening_or_of_several_sentences_is_refused(description: str) -> None:
    with pytest.raises(ValidationError):
        Criterion(title="T", description=description, weight=5)


@pytest.mark.parametrize(
    "said", ["Says what the U.S. Senate, e.g. Mr. Smith, did in 1890.", "写明年份和地点。", "Names ‘it. 5’ of 7."]
)
def test_one_sentence_may_have_dots_in_it(said: str) -> None:
    assert criterion(said=said).demand == said


def test_a_rubric_has_seven_to_twenty_criteria_each_once_and_asks_for_something() -> None:
    for n in (0, 6, 21):
        with pytest.raises(ValidationError):
            Rubric(criteria=criteria(n))
    for n in (7, 20):
        assert Rubric.model_validate_json(Rubric(criteria=criteria(n)).model_dump_json()).criteria == criteria(n)
    with pytest.raises(ValidationError, match="same title"):
        Rubric(criteria=(*criteria(7), criterion("TITLE 0")))
    errors = tuple(criterion(f"E{n}", "Error Criterion:", -1) for n in range(7))
    with pytest.raises(ValidationError, match="asks nothing"):
        Rubric(criteria=errors)
    with pytest.raises(ValidationError):
        Rubric.model_validate({"form": "race", "criteria": [c.model_dump() for c in criteria(7)]})
    assert Rubric(criteria=criteria(7)).origin is Origin.READER


def test_a_criterion_has_no_invisible_characters() -> None:
    made = Criterion(title="A\x00 title\u202e", description="Key\u200b Criterion:\nNames\x07 the year.", weight=5)
    assert (made.title, made.description) == ("A title", "Key Criterion: Names the year.")


def test_ratings_are_normalised_to_the_unit_interval() -> None:
    assert [normalise_rating(rating) for rating in (1, 10)] == [0.0, 1.0]
    assert normalise_rating(5) == pytest.approx(4 / 9)
    for rating in (0, 11, -1):
        with pytest.raises(ValueError, match="from 1 to 10"):
            normalise_rating(rating)


def make_score(weight: int, score: float | None) -> CriterionScore:
    opening = {5: "Key", 4: "Important", 3: "Important", 2: "Optional", -1: "Error", -2: "Error"}[weight]
    made = criterion(f"{weight}", f"{opening} Criterion:", weight)
    return CriterionScore(criterion=made, score=score, missing="" if score is not None else "nobody was there")


def test_the_overall_score_by_hand_and_within_bounds() -> None:
    assert overall_of([make_score(5, 1.0), make_score(3, 0.5)]) == pytest.approx((5 + 1.5) / 8)
    assert overall_of([make_score(5, 1.0), make_score(3, 0.5), make_score(-2, 1.0)]) == pytest.approx((6.5 - 2) / 8)
    assert overall_of([make_score(5, 0.5), make_score(4, None)]) == 0.5, "what nobody judged counts neither way"
    assert overall_of([make_score(2, 0.1), make_score(-2, 1.0), make_score(-1, 1.0)]) == 0.0
    assert overall_of([make_score(5, None), make_score(-2, 0.0)]) is None
    assert overall_of([]) is None


def test_a_missing_score_needs_a_reason_and_a_score_has_none() -> None:
    for values in ({"score": None}, {"score": 0.5, "missing": "but why"}, {"score": 1.5}, {"score": -0.1}):
        with pytest.raises(ValidationError):
            CriterionScore(criterion=criterion(), **values)  # type: ignore[arg-type]


def test_an_error_that_is_met_fails_and_what_is_missing_never_does() -> None:
    assert [make_score(5, v).fails for v in (0.0, 0.49, 0.5, 1.0)] == [True, True, False, False]
    assert [make_score(-2, v).fails for v in (0.0, 0.49, 0.5, 1.0)] == [False, False, True, True]
    assert not make_score(5, None).fails
    card = scorecard_of([make_score(5, 1.0), make_score(4, None)], ("x",))
    assert (card.judged, card.overall, card.revised) == (1, 1.0, ("x",))
    assert Scorecard.model_validate_json(card.model_dump_json()) == card
