"""What a quotation is in its source, an item, a heading or the head of a table, is known where it is laid out."""

import re

import pytest

from app.domain.evidence import FormKind
from tests.workflows.brief.test_units import make_passage
from workflows.agents.brief.layout import lay_out
from workflows.agents.brief.searching import SearchState
from workflows.agents.brief.splitting import split_passage
from workflows.agents.brief.units import Unit


def show(units: list[Unit]) -> str:
    """Return the units as a reader sees them, without markers."""
    return re.sub(r" ?\[\[\w+\]\]", "", lay_out([unit.to_quote() for unit in units], [unit.form for unit in units]))


def with_headings(units: list[Unit]) -> list[Unit]:
    """Return the units with the headings that they stand under."""
    heads = [head for unit in units for head in (unit.head and unit.head.head, unit.head) if head]
    return list({unit.place: unit for unit in [*heads, *units]}.values())


def test_short_items_are_units_like_the_others_of_their_list() -> None:
    units = split_passage(make_passage("What to pack:\n\n* 2 socks\n* Passport\n* a torch with new batteries"))
    assert show(units[1:]) == "- “2 socks”\n- “Passport”\n- “a torch with new batteries”"
    assert {unit.group for unit in units} == {1}


def test_a_line_that_names_something_and_says_what_it_is_is_quoted() -> None:
    text = "Boat house\n\nKey safe: behind the blue barrel\n\nSwimming is allowed on the east side only."
    assert next(unit.text for unit in split_passage(make_passage(text))) == "Key safe: behind the blue barrel"


def test_the_last_line_of_a_passage_heads_nothing_and_is_quoted() -> None:
    text = "The hut opens in June.\n\nIn the rucksack: rope, helmet, two slings (the long ones)"
    assert [unit.text for unit in split_passage(make_passage(text))][-1].startswith("In the rucksack")


def test_of_many_lines_like_titles_the_last_is_one_of_them() -> None:
    text = "The yard\nBikes into the shed\nCars on the left side only\nBalls not against the garage door\nNoise ends at ten."
    assert "Balls not against the garage door" in [unit.text for unit in split_passage(make_passage(text))]


@pytest.mark.parametrize("title", ["[4.1.0] - 2022-03-05", "2019", "Readings 2021", "Season of 12 May 2020"])
def test_a_line_of_its_own_with_a_date_or_a_version_heads_what_follows(title: str) -> None:
    text = f"Log\n\nKept by hand.\n\n{title}\n\nAdded\n\n- a lock for the north gate\n- new oil"
    units = split_passage(make_passage(text))
    assert [unit.text for unit in units] == ["Kept by hand.", "a lock for the north gate", "new oil"]
    assert units[-1].in_context.startswith(f"{title}: Added")
    assert (
        show(with_headings(units[1:])).replace("\\", "")
        == f"**{title}**\n\n**Added**\n\n- “a lock for the north gate”\n- “new oil”"
    )


def test_a_sentence_with_a_date_is_no_heading() -> None:
    text = "Log\n\nThe bridge was opened on 12 May 2020.\n\nIt is still closed in winter."
    assert [unit.heading for unit in split_passage(make_passage(text))] == ["Log", "Log"]


def test_a_list_ends_at_the_next_heading() -> None:
    units = split_passage(
        make_passage("Before\n\n- Open the valve\n- Light the lamp\n\nAfterwards\n\n- Close the valve\n- Sweep the floor")
    )
    assert [unit.group for unit in units] == [1, 1, 2, 2]


def test_nothing_stands_under_a_heading_that_is_not_its_own() -> None:
    text = "House\n\nMoving in\n\nThe keys are with Mr Roth.\n\nMoving out\n\nThe keys go into the letter box."
    first, second = split_passage(make_passage(text))
    assert first.head
    assert second.head
    assert show([first.head, first, second]) == (
        "**Moving in**\n\n“The keys are with Mr Roth.”\n\n“The keys go into the letter box.”"
    )
    assert show([second.head, first]) == "“The keys are with Mr Roth.”", "a heading of nothing is left out"


def test_steps_are_a_list_and_what_stands_between_them_is_none() -> None:
    text = (
        "To bleed the radiator:\n\n1. Close the pump.\n\n2. Open the valve\n\nTake care, the water is hot.\n\n3. Wait for a hiss."
    )
    assert show(split_passage(make_passage(text))) == (
        "“To bleed the radiator:”\n\n- “1. Close the pump.”\n- “2. Open the valve”\n\n"
        "“Take care, the water is hot.”\n\n“3. Wait for a hiss.”"
    )


def test_a_line_without_a_full_stop_is_whole() -> None:
    units = split_passage(make_passage("Freezer\n\nCoolant of the circuit: R600a, 0.061 kg, with a label on the back"))
    assert show(units) == "“Coolant of the circuit: R600a, 0.061 kg, with a label on the back”"


def test_an_empty_first_cell_stays_empty() -> None:
    units = split_passage(make_passage("Site | Year | Visitors\n\nQuay | 2021 | 310\n\n | 2022 | 428"))
    table = show([units[0].before, *units] if units[0].before else units).splitlines()
    assert [[cell.strip() for cell in row.split("|")[1:4]] for row in table[2:]] == [["Quay", "2021", "310"], ["", "2022", "428"]]


def test_a_row_without_a_figure_heads_no_table_of_its_own() -> None:
    rows = ["Name | Desk | Badge", "Ames | 12 | 881", "Bell | 14 | 902", "Cole | none | none", "Dean | 17 | 913"]
    units = split_passage(make_passage("\n\n".join(rows)))
    head = units[0].before
    assert head
    shown = show([head, units[0], units[2], units[3]])
    assert shown.count("---|") + shown.count("--- |") == 4, "one table with its head"
    assert "| Cole | none | none |" in shown
    assert [unit.form.kind for unit in (head, units[2])] == [FormKind.TABLE_HEAD, FormKind.ROW]


def test_a_later_part_of_a_table_gets_no_head_of_its_own_where_other_rows_lack_figures_too() -> None:
    rows = "Cole | none | none\n\nDean | 17 | 913\n\nEast | none | none"
    assert [unit.before for unit in split_passage(make_passage(rows, start=400))] == [None, None, None]


def test_where_a_rating_says_that_something_answers_the_reader_is_not_told_otherwise() -> None:
    weak = SearchState("Who?", nearest=0.15)
    assert weak.is_weak
    assert SearchState("Who?", nearest=0.15, best_rating=0.03).is_weak
    assert not SearchState("Who?", nearest=0.15, best_rating=0.6).is_weak


@pytest.mark.parametrize(
    ("head", "is_head"),
    [("Berth | A year | Half a year from 1 July", True), ("Crew | 2021 | 2022", True), ("B1 | 3 | 40", False)],
)
def test_the_first_row_is_a_head_unless_it_gives_bare_figures(head: str, is_head: bool) -> None:
    units = split_passage(make_passage(f"{head}\n\nB2 | 4 | 55\n\nB3 | 5 | 60"))
    assert (units[-1].before is not None) == is_head
    if is_head:
        assert show([unit for unit in (units[-1].before, *units[-2:]) if unit]).startswith(f"| {head} |")


def test_a_remark_between_rows_leaves_them_their_head() -> None:
    rows = "Code | Boat | Fee\n\n# fees from 1 April 2024\n\nB2 | Tub | 55\n\nB3 | Punt | 60"
    assert [unit.before.text if unit.before else "" for unit in split_passage(make_passage(rows))] == ["Code | Boat | Fee"] * 2


@pytest.mark.parametrize("rows", ["| Ada | oil | |\n\n| | rope | May |", "Ada | oil |\n\n | rope | May"])
def test_empty_cells_are_cells(rows: str) -> None:
    units = split_passage(make_passage(f"| Who | What | When |\n\n{rows}"))
    table = show([unit for unit in (units[0].before, *units) if unit]).splitlines()
    assert [[cell.strip() for cell in row.split("|")[1:4]] for row in table[2:]] == [["Ada", "oil", ""], ["", "rope", "May"]]


def test_each_part_of_a_table_has_its_head() -> None:
    rows = (
        "Code | Boat | Fee\n\n# ROWING from 2024\n\nR1 | Skiff | 55\n\nR2 | Tub | 40\n\n# SAILING from 2024\n\nS1 | Dinghy | 60"
    )
    passage = make_passage(rows)
    units = split_passage(passage)
    head = units[0].before
    assert head
    shown = show(with_headings([head, *units]))
    assert [line.replace("\\", "") for line in shown.splitlines() if line and "---" not in line] == [
        "**# ROWING from 2024**",
        "| Code | Boat | Fee | |",
        "| R1 | Skiff | 55 | |",
        "| R2 | Tub | 40 | |",
        "**# SAILING from 2024**",
        "| Code | Boat | Fee | |",
        "| S1 | Dinghy | 60 | |",
    ]


def test_what_stands_behind_a_sentence_in_its_line_is_no_heading() -> None:
    text = "Lamps\n\nTwo flashes: pump blocked. SWITCH IT OFF. Ring the hut warden\n\nSteady light: all is well."
    units = split_passage(make_passage(text))
    assert [unit.text for unit in units][:3] == ["Two flashes: pump blocked.", "SWITCH IT OFF.", "Ring the hut warden"]
