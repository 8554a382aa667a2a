"""DeepRubric's and RACE's forms of a rubric, and that none of the three forms passes for another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.domain.evidence_rubric import CriterionType, EvidenceCriterion, EvidenceRubric, Variant
from app.domain.race_rubric import RaceCriterion, RaceDimension, RaceRubric
from app.domain.rubric import Criterion, Rubric

F, L = CriterionType.FACTUAL, CriterionType.LOGICAL


def criterion(n: int, kind: CriterionType = F, weight: float = 0.5, grounded: bool = True) -> EvidenceCriterion:
    rests = {"source_leaf_ids": ("l1",), "evidence": ("Wool was taxed.",)} if kind is F and grounded else {}
    return EvidenceCriterion(id=f"R{n}", type=kind, description=f"Names duty {n}.", weight=weight, **rests)  # type: ignore[arg-type]


def evidence_rubric(*more: EvidenceCriterion, variant: Variant = Variant.TREE, grounded: bool = True) -> EvidenceRubric:
    five = (*(criterion(n, grounded=grounded) for n in range(3)), criterion(3, L), criterion(4, L, 1.0))
    return EvidenceRubric(variant=variant, criteria=(*five, *more))


QSR = Rubric(criteria=tuple(Criterion(title=f"T{n}", description="Key Criterion: Names it.", weight=5) for n in range(7)))
RACE = RaceRubric(
    weights=dict.fromkeys(RaceDimension, 0.25),
    criteria={d: (RaceCriterion(criterion="is there", explanation="whether it is", weight=1.2),) for d in RaceDimension},
)


def test_each_form_is_read_back_and_passes_for_no_other() -> None:
    forms = (QSR, evidence_rubric(), RACE)
    for rubric in forms:
        assert type(rubric).model_validate_json(rubric.model_dump_json()) == rubric
        for other in {type(form) for form in forms} - {type(rubric)}:
            with pytest.raises(ValidationError):
                other.model_validate_json(rubric.model_dump_json())


def test_a_stored_rubric_of_old_needs_no_form() -> None:
    old = QSR.model_dump(mode="json")
    del old["form"]
    assert Rubric.model_validate(old) == QSR


def test_a_factual_criterion_rests_on_leaves_and_their_statements_and_a_logical_one_on_nothing() -> None:
    with pytest.raises(ValidationError, match="needs the ids of its leaves"):
        evidence_rubric(criterion(9, grounded=False))
    for lacking in ({"source_leaf_ids": ()}, {"evidence": ()}, {"evidence": (" ",)}):
        with pytest.raises(ValidationError, match="needs the ids"):
            evidence_rubric(criterion(9).model_copy(update=lacking))
    with pytest.raises(ValidationError, match="has no evidence"):
        EvidenceCriterion(id="R1", type=L, description="Compares both.", weight=1, evidence=("x",))
    closed = evidence_rubric(variant=Variant.CLOSED_BOOK, grounded=False)
    assert not any(c.grounded for c in closed.criteria)
    with pytest.raises(ValidationError, match="closed-book"):
        evidence_rubric(variant=Variant.CLOSED_BOOK)


def test_verification_takes_negative_weights_out() -> None:
    debunks = criterion(7, weight=-0.3)
    with pytest.raises(ValidationError, match="verification"):
        evidence_rubric(debunks)
    unrevised = evidence_rubric(debunks, variant=Variant.UNREVISED)
    assert unrevised.as_verified() == evidence_rubric()
    with pytest.raises(ValidationError):  # four are left
        EvidenceRubric(variant=Variant.UNREVISED, criteria=(*unrevised.criteria[:4], debunks)).as_verified()


@pytest.mark.parametrize("weight", [1.01, -1.01, float("nan"), float("inf")])
def test_weights_of_evidence_criteria_are_bounded(weight: float) -> None:
    with pytest.raises(ValidationError):
        criterion(1, weight=weight)


def test_five_criteria_each_once_that_ask_for_something() -> None:
    with pytest.raises(ValidationError):
        EvidenceRubric(criteria=evidence_rubric().criteria[:4])
    with pytest.raises(ValidationError, match="same id or the same wording"):
        evidence_rubric(criterion(0))
    with pytest.raises(ValidationError, match="asks for nothing"):
        EvidenceRubric(criteria=tuple(criterion(n, weight=0.0) for n in range(5)))


def changed(**changes: object) -> dict[str, object]:
    return RACE.model_dump() | changes


TWICE = [{"criterion": "x", "weight": 1.0}, {"criterion": " x", "weight": 1.0}]


@pytest.mark.parametrize(
    "change",
    [
        {"weights": {}},
        {"weights": {"insight": 0.0}},
        {"weights": {"insight": -1.0, "readability": 2.0}},
        {"criteria": {}},
        {"criteria": {"insight": [{"criterion": "x", "weight": 0.0}]}},
        {"weights": {"insight": 1.0}, "criteria": {"insight": TWICE}},
        {"weights": {"style": 1.0}},
    ],
)
def test_a_race_rubric_counts_something_by_criteria_of_its_own(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RaceRubric.model_validate(changed(**change))


@given(st.dictionaries(st.sampled_from(list(RaceDimension)), st.floats(0, 100), max_size=4))
def test_what_counts_has_a_weight(weights: dict[RaceDimension, float]) -> None:
    try:
        rubric = RaceRubric(weights=weights, criteria=RACE.criteria)
    except ValidationError:
        assert not sum(weights.values()) > 0
        return
    assert set(rubric.counted) == {d for d, weight in weights.items() if weight > 0}
    assert RaceRubric.model_validate_json(rubric.model_dump_json()) == rubric
