"""What the offline grader makes of pairs whose answer is plain."""

import pytest

from app.domain.claims import Support
from workflows.checks.grading import Evidence, grade_claim
from workflows.checks.vetoes.reasons import VetoReason

DRUG = Evidence(
    "A trial of the drug",
    [
        "We gave the drug to 120 patients with high blood pressure.",
        "These results show that the drug reduces the risk of stroke in patients with high blood pressure.",
    ],
)


def supported(claim: str, evidence: Evidence = DRUG) -> float:
    return grade_claim(claim, evidence).full


def test_a_paraphrase_is_supported_and_another_subject_is_not() -> None:
    assert grade_claim("The drug reduces the risk of stroke in patients with high blood pressure.", DRUG).support is Support.FULL
    assert grade_claim("Migratory birds cross the Sahara in autumn at night.", DRUG).support is Support.NONE


def test_the_opposite_word_is_named_with_the_word_it_stands_for() -> None:
    grade = grade_claim("The drug reduces the risk of stroke in patients with low blood pressure.", DRUG)
    assert grade.support in (Support.PARTIAL, Support.CONTRADICTED)
    assert grade.veto
    assert (grade.veto.reason, grade.veto.words, grade.veto.given) == (VetoReason.OPPOSITE, "low", "high")


def test_a_number_that_is_not_there_is_named() -> None:
    grade = grade_claim("The drug reduces the risk of stroke by 73% in patients with high blood pressure.", DRUG)
    assert grade.support is Support.PARTIAL
    assert grade.veto
    assert (grade.veto.reason, grade.veto.words) == (VetoReason.NUMBER, "73%")


def test_a_claim_in_words_of_its_own_is_not_judged() -> None:
    grade = grade_claim("People with hypertension who took the medicine had fewer strokes.", DRUG)
    assert (grade.support, grade.veto) == (Support.UNJUDGED, None)


def test_chinese_claims_are_graded_by_their_words() -> None:
    evidence = Evidence("关税", ["1890年的关税法旨在保护国内工人的工资。"])
    assert grade_claim("1890年的关税法旨在保护工人的工资。", evidence).support is Support.FULL
    assert grade_claim("候鸟在秋天飞越撒哈拉沙漠。", evidence).support is Support.NONE


@pytest.mark.parametrize("claim", ["", "?!", "12", "。", "x" * 5_000, "not " * 200])
def test_odd_claims_are_graded_too(claim: str) -> None:
    assert 0 <= supported(claim) <= 1
    assert 0 <= supported(claim, Evidence("", [""])) <= 1
