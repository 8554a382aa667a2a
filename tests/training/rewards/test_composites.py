"""Entities, votes, reference citations and the sums over all parts."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.missing import Missing
from training.rewards.against_reference import CountedCitation, count_citations, reference_citation_reward
from training.rewards.composites import (
    PAPER_WEIGHTS,
    DeepRubricParts,
    ReportWeights,
    RubricGeneratorWeights,
    SearchWeights,
    deeprubric_reward,
    report_reward,
    rubric_generator_reward,
    search_agent_reward,
)
from training.rewards.entities import Entity, entity_coverage
from training.rewards.score import Score
from training.rewards.transcript import Transcript, read_step
from training.rewards.votes import majority_of, outcome_reward, preference_reward

LOST = Missing("the judge timed out")


def seen(*observations: str, thought: str = "") -> Transcript:
    call = '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>'
    return Transcript((read_step(f"<think>{thought}</think>{call}", observations),))


def test_entities_by_hand() -> None:
    entities = [Entity("José Martí"), Entity("United States", ("U.S.", "USA")), Entity("胡适"), Entity("Art")]
    assert entity_coverage(seen("jose marti left the usa", "他提到了胡适先生。", "the party started"), entities) == 0.75
    assert entity_coverage(seen("José  Martí,", "art."), entities) == 0.5
    assert entity_coverage(seen(), entities) == 0.0


@pytest.mark.parametrize(
    ("entity", "text", "met"),
    [
        (Entity("万里长城"), "遊覽萬里長城的人", 1.0),
        (Entity("臺灣"), "台湾的经济", 1.0),
        (Entity("NASA"), "由NASA发射", 1.0),
        (Entity("Apple II"), "推出Apple II电脑", 1.0),
        (Entity("T恤"), "一件T恤。", 1.0),
        (Entity("NASA"), "由NASAX发射", 0.0),
        (Entity("Apple II"), "推出Apple III电脑", 0.0),
    ],
)
def test_chinese_pages_name_an_entity_in_either_script_and_beside_latin_letters(entity: Entity, text: str, met: float) -> None:
    assert entity_coverage(seen(text), [entity]) == met


def test_listing_names_in_a_thought_pays_only_as_published() -> None:
    guess = seen("nothing here", thought="maybe Paris, London or Rome")
    assert entity_coverage(guess, [Entity("Rome")]) == 0.0
    assert entity_coverage(guess, [Entity("Rome")], published=True) == 1.0


def test_without_entities_coverage_is_undefined() -> None:
    assert isinstance(entity_coverage(seen("x"), []), Missing)


def test_an_entity_without_letters_is_never_found() -> None:
    assert entity_coverage(seen("anything at all"), [Entity("???"), Entity("anything")]) == 0.5


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([True, True, False], True),
        ([True, False, False], False),
        ([True, True, LOST], True),
        ([True, False, LOST], Missing("no majority among the judges (the judge timed out)")),
        ([True, False], Missing("no majority among the judges")),
        ([], Missing("no majority among the judges")),
    ],
)
def test_majority(votes: list[bool | Missing], expected: bool | Missing) -> None:
    assert majority_of(votes) == expected


def test_outcome() -> None:
    assert outcome_reward([True, True, False]) == 1.0
    assert outcome_reward([False, False, True]) == 0.0
    assert isinstance(outcome_reward([LOST, LOST, True]), Missing)


@pytest.mark.parametrize(
    ("accepted", "rejected", "expected"),
    [(0.7, 0.6, 1.0), (0.6, 0.7, -1.0), (0.5, 0.5, -1.0), (LOST, 0.5, LOST), (0.5, LOST, LOST)],
)
def test_preference_a_tie_is_wrong(accepted: Score, rejected: Score, expected: Score) -> None:
    assert preference_reward(accepted, rejected) == expected


@given(st.floats(0, 1), st.floats(0, 1))
def test_preference_never_rewards_both_orders(one: float, other: float) -> None:
    assert preference_reward(one, other) + preference_reward(other, one) in (0.0, -2.0)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("generated", "valid", "reference", "expected"),
    [
        (7, 7, 10, 0.1),
        (10, 6, 10, -0.1),
        (6, 6, 10, -1.0),
        (21, 21, 30, 0.1),  # 0.7 * 30 is 20.999... in binary: counted in whole numbers
        (0, 0, 10, -1.0),
        (0, 0, 0, 0.0),
        (3, 3, 0, 0.1),
        (3, 2, 0, -0.1),
    ],
)
def test_citations_against_a_reference(generated: int, valid: int, reference: int, expected: float) -> None:
    assert reference_citation_reward(generated, valid, reference) == expected


def test_the_same_citation_again_is_one() -> None:
    again = [
        CountedCitation("Rates  rose.", "a", 0.9),
        CountedCitation("rates rose.", "a", 0.2),
        CountedCitation("Rates rose.", "b", 0.2),
    ]
    assert count_citations(again * 5, threshold=0.5) == (2, 1)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50))
def test_more_valid_citations_never_pay_less(generated: int, valid: int, reference: int) -> None:
    valid = min(valid, generated)
    assert reference_citation_reward(generated + 1, valid + 1, reference) >= reference_citation_reward(
        generated, valid, reference
    )


def test_deeprubric_by_hand() -> None:
    parts = DeepRubricParts(rubric=0.8, format=1.0, citation=0.5, search=0.5)
    assert deeprubric_reward(parts) == pytest.approx(0.4 + 0.2 + 0.1 + 0.05)


def test_the_weights_sum_to_one() -> None:
    assert math.isclose(PAPER_WEIGHTS.rubric + PAPER_WEIGHTS.format + PAPER_WEIGHTS.citation + PAPER_WEIGHTS.search, 1.0)


def test_a_missing_part_is_a_missing_reward() -> None:
    assert deeprubric_reward(DeepRubricParts(LOST, 1.0, 0.5, 0.5)) == LOST


@given(*[st.floats(0, 1)] * 4)
def test_deeprubric_bounds_and_monotonicity(rubric: float, form: float, citation: float, search: float) -> None:
    low = deeprubric_reward(DeepRubricParts(rubric, form, citation, search))
    high = deeprubric_reward(DeepRubricParts(max(rubric, 0.9), form, citation, search))
    assert isinstance(low, float)
    assert isinstance(high, float)
    assert 0.0 <= low <= high <= 1.0 + 1e-9


def test_rubric_generator_by_hand() -> None:
    assert rubric_generator_reward(1.0, 3.0, True) == 4.0
    assert rubric_generator_reward(-1.0, 0.0, False) == -2.0
    assert rubric_generator_reward(1.0, LOST, True) == LOST
    assert rubric_generator_reward(1.0, LOST, True, RubricGeneratorWeights(1.0, 0.0)) == 1.0


def test_search_agent_by_hand() -> None:
    """Two steps: rewards .1 and -.3 for tools, .1 and .1 for form, at the weights the paper begins with."""
    value = search_agent_reward(LOST, 0.5, [0.1, -0.3], [0.1, 0.1])
    assert value == pytest.approx(0.1 * 0.5 + ((0.6 * 0.1 + 0.3 * 0.1) + (0.6 * -0.3 + 0.3 * 0.1)) / 2)
    late = SearchWeights(tool=0.2, format=0.1, process=0.2)
    assert late.outcome == pytest.approx(0.5)
    assert search_agent_reward(1.0, 0.5, [0.1], [0.1], late) == pytest.approx(0.5 + 0.1 + 0.02 + 0.01)
    assert search_agent_reward(LOST, 0.5, [0.1], [0.1], late) == LOST


@pytest.mark.parametrize("weights", [(0.1, 0.1, 0.1), (0.9, 0.3, 0.1), (-0.1, 0.5, 0.3)])
def test_weights_out_of_bounds_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        SearchWeights(*weights)


def test_a_trajectory_without_steps_has_no_reward() -> None:
    assert isinstance(search_agent_reward(1.0, 1.0, [], []), Missing)


def test_report_by_hand() -> None:
    assert report_reward(0.55, -0.1, -2, ReportWeights(citation=0.5, format=0.1)) == pytest.approx(0.55 - 0.05 - 0.2)
    assert report_reward(LOST, 0.1, 0) == LOST
