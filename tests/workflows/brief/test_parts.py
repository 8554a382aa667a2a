import pytest

from workflows.agents.brief.planning import split_parts


@pytest.mark.parametrize(
    "question",
    [
        "What did presidents hope to get from the United States Bank and from Congress?",
        "Why did the canal fail? And why?",
        "I moved here in May. How do I get a parking permit?",
        "怎样更换电池和滤网？",
    ],
)
def test_a_question_that_asks_one_thing_is_its_only_part(question: str) -> None:
    assert split_parts(question, 5) == (question,)


def test_several_questions_are_parts_and_later_ones_keep_what_they_may_speak_of() -> None:
    parts = split_parts("Who built the Erie Canal? How long did its building take?", 5)
    assert parts == ("Who built the Erie Canal?", "Who built the Erie Canal? How long did its building take?")


def test_items_of_a_list_are_parts_with_what_stands_before_them() -> None:
    parts = split_parts("About the UF-480 freezer:\n1. door alarm settings\n2) spare battery price", 5)
    assert parts == ("About the UF-480 freezer: door alarm settings", "About the UF-480 freezer: spare battery price")


def test_chinese_questions_are_parts_too() -> None:
    assert len(split_parts("押金什么时候退还？装修需要哪些审批手续？", 5)) == 2


def test_more_parts_than_a_plan_may_have_are_one_question() -> None:
    question = " ".join(f"What is the price of article number {n}?" for n in range(9))
    assert split_parts(question, 5) == (question,)
