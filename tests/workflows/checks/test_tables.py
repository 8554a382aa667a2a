"""Tables: faults in labelled ones of both languages, what repair keeps, and numbers against sources."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.domain.citations import MARKER
from workflows.checks.markdown import parse_markdown
from workflows.checks.table_numbers import check_numbers
from workflows.checks.table_repair import repair_tables
from workflows.checks.tables import TableFault, find_tables, split_cells

F = TableFault
SOUND = "| Year | Rate |\n|:---|---:|\n| 1828 | 61 % [[a1]] |\n| 1832 | a \\| b |"
CHINESE = "年份与税率：\n\n| 年份 | 税率 |\n| --- | --- |\n| 1828 | 百分之六十一[[a1]] |\n\n此后下降。"
LABELLED = [
    (SOUND, set()),
    (CHINESE, set()),
    ("Year | Rate\n--- | ---\n1828 | 61", set()),
    ("- a list\n  | A | B |\n  |---|---|\n  | 1 | 2 |", set()),
    ("| Year | Rate |\n| 1828 | 61 [[a1]] |\n| 1832 | 33 |", {F.NO_RULE}),
    ("| 年份 | 税率 |\n|---|---|---|\n| 1828 | 61 |", {F.RULE}),
    ("| Year | Rate |\n|—|—|\n| 1828 | 61 |", {F.RULE}),
    ("| Year | Rate |\n|---|---|\n| 1828 | 61 | high [[a1]] |", {F.COLUMNS}),
    ("| Year | Rate | Law |\n|---|---|---|\n| 1828 | 61 |", {F.COLUMNS}),
    ("| Year | Rate |\n\n|---|---|\n\n| 1828 | 61 |", {F.GAP}),
    ("| 年份 | 税率 |\n|---|---|\n\n| 1828 | 61 |\n\n| 1832 | 33 |", {F.GAP}),
    ("|---|---|\n| 1828 | 61 |", {F.HEAD}),
    ("| Year | Rate |\n| in full | per cent |\n|---|---|\n| 1828 | 61 |", {F.HEAD}),
    ("| Year | Rate |\n|---|---|", {F.EMPTY}),
    ("| Year | Rate |\n|---|---|\n| 1828 | 61 |\nSource: the Treasury [[a1]].", {F.STUCK}),
    ("| 年份 | 税率 |\n|---|---|\n| 1828 | 61 |\n资料来源：财政部[[a1]]。", {F.STUCK}),
    ("｜ 年份 ｜ 税率 ｜\n｜---｜---｜\n｜ 1828 ｜ 61 ｜", {F.BARS}),
    ("| A | B |\n|---|---|\n| 1 | 2 |\n|---|---|\n| 3 | 4 |", {F.RULE}),
]
NO_TABLES = [
    "The chance P(A|B) is small, and P(B|A) is not.",
    "```\n| A | B |\n| 1 | 2 |\n```",
    "    | A | B |\n    | 1 | 2 |",
    "| Updated: March 31 |\n| Portland |",
    "a || b\n\n---\n\nc",
    "| a single line | of it |",
    "|x| + |y| = 1\n|x| - |y| = 0",
    "| a | b |\n| a row | of three | cells |",
    "绝对值 |x| 与 |y|。",
]
UNREPAIRABLE = {F.EMPTY}


@pytest.mark.parametrize(("text", "faults"), LABELLED)
def test_faults_of_labelled_tables(text: str, faults: set[TableFault]) -> None:
    assert [set(table.faults) for table in find_tables(text)] == [faults]


@pytest.mark.parametrize("text", NO_TABLES)
def test_bars_that_make_no_table(text: str) -> None:
    assert find_tables(text) == []
    assert repair_tables(text).text == text


def shown(text: str) -> int:
    """How many tables a Markdown program shows."""
    return sum(token.type == "table_open" for token in parse_markdown(text))


@pytest.mark.parametrize(("text", "faults"), LABELLED)
def test_repair_leaves_sound_tables_and_keeps_all_that_faulty_ones_say(text: str, faults: set[TableFault]) -> None:
    mended = repair_tables(text)
    assert (mended.text == text) is (not faults or faults <= UNREPAIRABLE)
    assert mended.after == (1, int(bool(faults & UNREPAIRABLE)))
    assert MARKER.findall(mended.text) == MARKER.findall(text)
    assert shown(mended.text) == 1
    assert repair_tables(mended.text).text == mended.text


def test_cells_beyond_the_head_are_shown_after_repair() -> None:
    mended = repair_tables("| Year | Rate |\n|:--|--:|\n| 1828 | 61 | high [[a1]] | |\n| 1832 |").text
    assert mended.split("\n") == [
        "| Year | Rate |  |", "| :--- | ---: | --- |", "| 1828 | 61 | high [[a1]] |", "| 1832 |  |  |",
    ]  # fmt: skip


def test_text_around_tables_stays_as_it_is() -> None:
    text = f"Before.\n\n{SOUND}\n\nBetween | them.\n\n| A | B |\n| 1 | 2 |\n\nAfter.\n"
    mended = repair_tables(text)
    assert mended.text == text.replace("| A | B |\n", "| A | B |\n| --- | --- |\n")
    assert (mended.before, mended.after) == ((2, 1), (2, 0))


cell = st.text(st.sampled_from("ab1%税。 [[k]]\\|-:"), max_size=6)
line = st.lists(cell, min_size=1, max_size=4).map(lambda cells: f"| {' | '.join(cells)} |") | st.sampled_from(
    ["|---|---|", "", "text", "｜甲｜乙｜", "|:-:|", "# head", "```"]
)


@given(st.lists(line, max_size=9).map("\n".join))
@example("|  | 1 |\n|  | 1 |\n\n|  | 1 |")  # with its rule, the table goes on after the blank line
def test_repair_loses_no_citation_no_word_and_is_done_at_once(text: str) -> None:
    mended = repair_tables(text)
    assert MARKER.findall(mended.text) == MARKER.findall(text)
    assert [c for c in mended.text if c.isalnum()] == [c for c in text if c.isalnum()]
    assert mended.after.faulty <= mended.before.faulty
    again = repair_tables(mended.text)
    assert again.after.faulty == mended.after.faulty


SOURCES = {
    "a1": "Rates rose to 61.7 per cent in 1828; revenue was $23.2 million.",
    "b2": "一八三二年税率降至33%，收入为2320万元。",
}


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ("| 1828 | 61.7% [[a1]] |", []),
        ("| 1828 | about 62 [[a1]] |", []),
        ("| 1828 | 61.5% [[a1]] |", ["61.5% [[a1]]"]),
        ("| 1828 | 61.7% [[b2]] |", ["61.7% [[b2]]"]),
        ("| 1828 | 23.2 | [[a1]] |", ["23.2"]),
        ("| 1828 | 23.2 million | [[a1]] |", []),
        ("| 1832 | 33% [[b2]] | 2320万 [[b2]] |", []),
        ("| 1832 | 33% [[b2]] | 2,320 [[b2]] |", ["2,320 [[b2]]"]),
        ("| 1828 | 23,200,000 [[a1]] |", []),
        ("| 1828 | no number [[a1]] |", []),
    ],
)
def test_numbers_are_held_against_what_the_cell_its_row_or_its_head_cites(row: str, wrong: list[str]) -> None:
    found = check_numbers(f"| Year | Rate | More |\n|---|---|---|\n{row}", SOURCES)
    assert [cell.text for cell in found.wrong] == wrong


def test_scales_in_heads_and_cells_without_a_source() -> None:
    scaled = "| Year | Revenue (millions) [[a1]] |\n|---|---|\n| 1828 | 23.2 |\n| 1829 | 23.5 |"
    found = check_numbers(scaled, SOURCES)
    assert (found.checked, found.unsourced, [cell.text for cell in found.wrong]) == (2, 0, ["23.5"])
    bare = check_numbers("| Year | Rate |\n|---|---|\n| 1828 | 61 |\n| 1832 | 33 [[gone]] |", SOURCES)
    assert (bare.checked, bare.unsourced) == (0, 2)


def test_escaped_bars_stay_in_their_cell() -> None:
    assert split_cells("| a \\| b | c |") == ("a | b", "c")
    assert "a \\| b" in repair_tables("| A | B |\n| a \\| b | c |").text
