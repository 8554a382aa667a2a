from datetime import date

import pytest

from app.domain.evidence import Passage
from retrieval.language.years import YearSpan
from tests.workflows.brief.test_units import make_passage
from workflows.agents.brief.choosing import FOLLOWING, FURTHER, MANY, WHOLE, add_further, choose_units, find_standard
from workflows.agents.brief.ranking import (
    Meanings,
    RankedUnit,
    Ratings,
    add_ratings,
    find_authors,
    list_rated,
    prefer_authors,
    prefer_years,
    rank_units,
    strip_sources,
)
from workflows.agents.brief.splitting import split_passage
from workflows.agents.brief.units import Unit

FEES = (
    "The visitors' room costs 18 euros a night. It is booked at the office. "
    "A night in the visitors' room costs 18 euros. A night in the visitors' room costs 25 euros from 2025. "
    "The garden is open to all members."
)


def rank(question: str, meanings: Meanings | None = None) -> list[Unit]:
    return [each.unit for each in rank_units(question, split_passage(make_passage(FEES)), meanings)]


def test_the_rarer_of_the_questions_words_count_more() -> None:
    assert rank("Which room has a garden?")[0].text == "The garden is open to all members."


def test_meaning_finds_what_shares_no_word_with_the_question() -> None:
    passage = make_passage(FEES)
    cosines = {unit.text: 0.9 if "garden" in unit.text else 0.1 for unit in split_passage(passage)}
    best = rank("May everybody sit on the lawn?", Meanings(cosines, {passage.key: 0.4}))[0]
    assert best.text == "The garden is open to all members."


def test_chinese_is_found_in_the_other_writing_and_by_single_characters() -> None:
    passage = make_passage("門禁卡在前臺領取。保修期為兩年。停車位每月收費三百元。")
    best = rank_units("车位一个月多少钱收？", split_passage(passage))[0]
    assert best.unit.text == "停車位每月收費三百元。"


def test_of_equal_words_those_of_the_passage_that_was_found_first_come_first() -> None:
    passages = [make_passage(f"The fee is {n} euros.").model_copy(update={"score": score}) for n, score in ((18, 0.2), (25, 0.9))]
    units = [unit for passage in passages for unit in split_passage(passage)]
    assert [each.unit.text for each in rank_units("What is the fee?", units)] == ["The fee is 25 euros.", "The fee is 18 euros."]


def test_sources_by_whom_the_question_names_come_first_where_there_are_any() -> None:
    said = {"Woodrow Wilson": "Women should have the vote.", "Jimmy Carter": "The vote of women counts."}
    passages = [
        each.model_copy(update={"source": each.source.model_copy(update={"author": author})})
        for each, author in zip(map(make_passage, said.values()), said, strict=True)
    ]
    ranked = [RankedUnit(unit, score) for each, score in zip(passages, (0.9, 1.0), strict=True) for unit in split_passage(each)]
    for question, first in (("What did Wilson say of the vote?", 0), ("What did Ford say of the vote?", 1), ("Who may vote?", 1)):
        assert prefer_authors(sorted(ranked, key=lambda r: -r.score), question)[0] == ranked[first], question


@pytest.mark.parametrize(
    "texts",
    [
        [
            "Oslo | top floor | gym yes | open daily",
            "Rome | top floor | gym yes | open daily",
            "Lima | top floor | gym yes | open daily",
        ],
        ["The case of this watch is waterproof.", "The case of this watch is not waterproof."],
        ["The award of the year went to Anna Berg.", "The award of the year went to Olga Lund."],
        ["本表壳可以防水并且耐高温。", "本表壳不可以防水并且耐高温。"],
    ],
)
def test_what_differs_in_name_place_or_denial_is_all_told(texts: list[str]) -> None:
    units = [unit for n, text in enumerate(texts, 1) for unit in split_passage(make_passage(text, 1_000 * n))]
    assert [each.unit.text for each in choose_units([RankedUnit(unit, 1.0) for unit in units], 200)] == texts


def test_what_a_unit_points_back_to_comes_before_it() -> None:
    booking = next(unit for unit in split_passage(make_passage(FEES)) if unit.text.startswith("It is"))
    chosen = choose_units([RankedUnit(booking, 1.0)], 50)
    assert [each.unit.text for each in chosen] == ["The visitors' room costs 18 euros a night.", "It is booked at the office."]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("To begin do this:\n\n- Open the tap.\n\n- Fill the tank.\n\nThe pump is quiet.", ["Open the tap.", "Fill the tank."]),
        ("要开始请这样做：\n\n1. 打开龙头。\n\n2. 把水箱注满。\n\n水泵很安静。", ["1. 打开龙头。", "2. 把水箱注满。"]),
        (
            "Enter these commands:\n\npump --prime now\n\npump --start now\n\nThe pump is quiet.",
            ["pump --prime now", "pump --start now"],
        ),
        ("The seller gave this reason:\n\nThe pump is quiet.\n\nIt hums on.", ["The pump is quiet."]),
    ],
)
def test_a_list_comes_with_the_sentence_that_opens_it(text: str, told: list[str]) -> None:
    units = split_passage(make_passage(f"The tank is large and round.\n\n{text}"))
    opening = next(unit for unit in units if unit.opens)
    others = [RankedUnit(unit, 0.1) for unit in units if unit is not opening]
    assert [each.unit.text for each in choose_units([RankedUnit(opening, 1.0), *others], 500)] == [opening.text, *told]


def test_a_sentence_that_opens_a_list_of_another_passage_says_nothing() -> None:
    units = split_passage(make_passage("The most remarkable provisions are the following:"))
    assert choose_units([RankedUnit(unit, 1.0) for unit in units], 50) == []
    units = split_passage(make_passage("The treaty is a good one. Its most remarkable provisions are the following:"))
    chosen = choose_units([RankedUnit(units[0], 1.0), RankedUnit(units[1], 0.9)], 50)
    assert [each.unit.text for each in chosen] == ["The treaty is a good one."]


def test_no_more_is_chosen_once_the_words_are_spent() -> None:
    units = split_passage(make_passage(FEES))
    chosen = choose_units([RankedUnit(unit, 1.0) for unit in units], 1)
    assert [each.unit.start for each in chosen] == [unit.start for unit in units[: 1 + FOLLOWING]]


def test_what_is_far_from_the_best_is_left_out() -> None:
    units = split_passage(make_passage(f"{FEES} Shoes stay at the door. Pets are welcome here. Bicycles stand in the yard."))
    ranked = [RankedUnit(unit, 1.0 if unit in units[:3] else 0.2) for unit in units]
    assert units[-1].place not in [each.unit.place for each in choose_units(ranked, 200)]


def test_a_source_of_the_years_asked_about_comes_first_and_an_undated_one_keeps_its_place() -> None:
    ranked = [RankedUnit(split_passage(dated(year))[0], score) for year, score in ((1905, 1.0), (None, 0.9), (1890, 0.8))]
    published = [each.unit.passage.source.published for each in prefer_years(ranked, YearSpan(None, 1899))]
    assert published == [None, date(1890, 1, 1), date(1905, 1, 1)]
    assert prefer_years(ranked[2:], YearSpan(1890, None)) == ranked[2:]


def test_a_later_source_may_tell_of_the_years_asked_about_and_an_earlier_one_may_not() -> None:
    ranked = [RankedUnit(split_passage(dated(year))[0], score) for year, score in ((2020, 1.0), (2022, 0.9), (2021, 0.8))]
    published = [each.unit.passage.source.published for each in prefer_years(ranked, YearSpan(2021, 2021))]
    assert published == [date(2022, 1, 1), date(2021, 1, 1), date(2020, 1, 1)]


def dated(year: int | None) -> Passage:
    passage = make_passage(FEES)
    day = date(year, 1, 1) if year else None
    return passage.model_copy(update={"source": passage.source.model_copy(update={"published": day})})


LOCKING = (
    "Key box\n\nThe box hangs by the door.\n\nLocking up\n\nWork from top to bottom:\n\n1. Check both rooms.\n\n"
    "2. Turn off the red switch. The grey one is the freezer.\n\n3. Set the alarm and leave."
)


def test_a_step_brings_the_others_of_its_list_with_its_heading_and_what_opens_it() -> None:
    units = split_passage(make_passage(LOCKING))
    step = next(unit for unit in units if "red switch" in unit.text)
    chosen = [
        each.unit.text for each in choose_units([RankedUnit(step, 1.0), *(RankedUnit(u, 0.1) for u in units if u != step)], 90)
    ]
    assert chosen == [
        "Locking up",
        "Work from top to bottom:",
        "1. Check both rooms.",
        "2. Turn off the red switch.",
        "The grey one is the freezer.",
        "3. Set the alarm and leave.",
    ]


def test_of_a_long_list_an_item_comes_alone_with_what_opens_it() -> None:
    items = [f"- Item {n} is kept in room {n} and nobody else may take it out of there." for n in range(20)]
    units = split_passage(make_passage("What we keep:\n\n" + "\n\n".join(items)))
    ranked = [RankedUnit(unit, 1.0 if "Item 7" in unit.text else 0.1) for unit in units]
    chosen = choose_units(sorted(ranked, key=lambda each: -each.score), 50)
    assert [each.unit.text for each in chosen] == ["What we keep:", items[7].removeprefix("- ")]
    assert sum(len(item.split()) for item in items) > WHOLE


def test_an_answer_comes_with_the_question_above_it_and_no_question_without_its_answer() -> None:
    text = "May I bring a dog?\n\nYes, on a lead. Cats stay outside.\n\nWhere can I park?\n\nBehind the house."
    units = split_passage(make_passage(text))
    cats = next(unit for unit in units if unit.text.startswith("Cats"))
    chosen = choose_units([RankedUnit(cats, 1.0), *(RankedUnit(unit, 0.1) for unit in units if unit != cats)], 50)
    assert [each.unit.text for each in chosen] == ["May I bring a dog?", "Yes, on a lead.", "Cats stay outside."]
    asked = split_passage(make_passage("May I bring a dog?"))
    assert choose_units([RankedUnit(unit, 1.0) for unit in asked], 50) == []


def test_several_authors_whom_a_question_names_come_by_turns() -> None:
    said = [("Ulysses Grant", 0.9), ("Ulysses Grant", 0.8), ("Grover Cleveland", 0.5), ("James Polk", 0.7)]
    ranked = [
        RankedUnit(split_passage(by(author, f"Number {n} is told here."))[0], score) for n, (author, score) in enumerate(said)
    ]
    order = [each.unit.passage.source.author for each in prefer_authors(ranked, "Compare what Grant and Cleveland said")]
    assert order == ["Grover Cleveland", "Ulysses Grant", "Ulysses Grant", "James Polk"]


def test_of_two_with_one_surname_the_one_is_meant_whose_first_name_is_asked_for() -> None:
    authors = ["Andrew Johnson", "Lyndon B. Johnson"]
    assert find_authors("What did Lyndon Johnson say?", authors) == {"Lyndon B. Johnson"}
    assert find_authors("What did President Johnson say?", authors) == set(authors)


def test_years_and_authors_say_which_sources_are_meant_and_not_what_is_asked() -> None:
    units = split_passage(by("Ulysses Grant", "Silver is coined."))
    assert strip_sources("What did Grant say of silver in 1875?", units) == "What did say of silver in ?"


def by(author: str, text: str) -> Passage:
    passage = make_passage(text)
    return passage.model_copy(update={"source": passage.source.model_copy(update={"author": author})})


def test_what_a_model_rates_well_comes_first_and_what_it_did_not_read_counts_like_the_worst() -> None:
    units = split_passage(make_passage(FEES))
    ranked = [RankedUnit(unit, 1.0 - 0.1 * at) for at, unit in enumerate(units)]
    texts, passages = list_rated(ranked)
    assert texts == [unit.in_context for unit in units]
    assert list(passages.values()) == [f"Manual\n{FEES}"]
    ratings = Ratings({units[0].in_context: 0.1, units[-1].in_context: 0.95}, dict.fromkeys(passages, 0.5))
    rated = add_ratings(ranked, ratings)
    assert rated[0].unit == units[-1]
    assert [each.unit for each in rated[1:]] == list(units[:-1])


def test_the_best_of_few_is_the_standard_and_of_many_one_that_may_not_stand_alone() -> None:
    assert find_standard([]) == 0.0
    assert find_standard([0.2, 1.0, 0.5]) == 1.0
    assert find_standard([3.0, *(1.0 - n / 100 for n in range(MANY))]) == 0.99


def test_further_units_of_each_quoted_source_are_kept_behind_the_chosen_ones() -> None:
    units = split_passage(make_passage(FEES.replace(". ", ".\n\n")))
    other = split_passage(
        dated(1900).model_copy(update={"source": make_passage().source.model_copy(update={"url": "https://b.org"})})
    )
    ranked = [RankedUnit(unit, 1.0 - 0.1 * at) for at, unit in enumerate([*units, *other])]
    kept = [each.unit for each in add_further(ranked[:1], ranked)]
    assert kept[0] == units[0]
    assert 1 < len(kept) <= 1 + FURTHER
    assert all(unit in units for unit in kept)


def test_what_was_left_out_as_said_already_does_not_come_back() -> None:
    units = split_passage(make_passage("The lamp is red.\n\nThe lamp is red.\n\nDoors lock by themselves."))
    ranked = [RankedUnit(unit, 1.0) for unit in units]
    assert [each.unit for each in add_further(ranked[:1], ranked)] == [units[0], units[2]]
