"""What the offline grader makes of pairs whose answer is plain."""

import pytest

from app.domain.claims import Support
from retrieval.language.tokens import split_words
from workflows.checks.grading import Evidence, load_grader
from workflows.checks.polarity import events_of

DRUG = Evidence(
    "A trial of the drug",
    [
        "We gave the drug to 120 patients with high blood pressure.",
        "These results show that the drug reduces the risk of stroke in patients with high blood pressure.",
    ],
)


def supported(claim: str, evidence: Evidence = DRUG) -> float:
    return load_grader().grade(claim, evidence).supported


def test_a_paraphrase_is_supported_and_another_subject_is_not() -> None:
    assert (
        load_grader().grade("The drug reduces the risk of stroke in patients with high blood pressure.", DRUG).support
        is Support.FULL
    )
    assert load_grader().grade("Migratory birds cross the Sahara in autumn at night.", DRUG).support is Support.NONE


def test_the_opposite_direction_is_told_apart() -> None:
    same = load_grader().grade("The drug reduces the risk of stroke.", DRUG)
    for opposite in ("The drug increases the risk of stroke.", "The drug does not reduce the risk of stroke."):
        assert load_grader().grade(opposite, DRUG).opposed > same.opposed + 0.1


def test_a_number_that_is_not_there_is_never_fully_supported() -> None:
    claim = "The drug reduces the risk of stroke by 73% in patients with high blood pressure."
    assert load_grader().grade(claim, DRUG).support is not Support.FULL


def test_chinese_claims_are_graded_by_their_words() -> None:
    evidence = Evidence("关税", ["1890年的关税法旨在保护国内工人的工资。"])
    assert supported("1890年的关税法保护工人的工资。", evidence) > supported("候鸟在秋天飞越撒哈拉沙漠。", evidence) + 0.3


@pytest.mark.parametrize("claim", ["", "?!", "12", "。", "x" * 5_000, "not " * 200])
def test_odd_claims_are_graded_too(claim: str) -> None:
    assert 0 <= supported(claim) <= 1
    assert 0 <= supported(claim, Evidence("", [""])) <= 1


def test_vectors_are_asked_for_few_texts_and_used() -> None:
    claim = "The drug reduces stroke."
    long = Evidence("T", [f"Sentence number {i} on the drug." for i in range(100)])
    texts = load_grader().list_texts_to_encode(claim, long)
    assert texts[0] == claim
    assert len(texts) <= 14
    near = {text: [1.0, 0.0] for text in texts}
    far = {text: [1.0, 0.0] if text == claim else [0.0, 1.0] for text in texts}
    assert load_grader().grade(claim, long, near).supported > load_grader().grade(claim, long, far).supported


def test_a_negation_turns_a_direction() -> None:
    words = split_words("it does not increase the risk but reduces pain")
    assert [event.sign for event in events_of(words, [2])] == [-1, -1]
