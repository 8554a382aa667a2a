"""Sentences that stand for what the one before them names."""

import pytest

from retrieval.language.back_references import points_back


@pytest.mark.parametrize(
    "sentence",
    [
        "This should be relieved from the unjust burden.",
        "But it has grown since.",
        "In 1852 the sum paid for this service was four millions.",
        "Of both, the latter is cheaper.",
        "这一时期农业政策的焦点是增收。",
        "韩国政府在这个时期的农业政策更为稳定。",
        "但由于进口增加，农业发展不振。",
        "該運動得到了農民的參與。",
    ],
)
def test_words_that_stand_for_something_before_are_seen(sentence: str) -> None:
    assert points_back(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "It is apparent that the Department is a charge upon the Treasury.",
        "There have been several cases of violence.",
        "This paper measures the yield of two wells.",
        "The lease of the slab, which the landlord drew up in August, ends in 2032 with all that stands on this ground.",
        "1962年，韩国颁布了《开垦促进法》。",
    ],
)
def test_a_sentence_that_names_its_subject_stands_alone(sentence: str) -> None:
    assert not points_back(sentence)
