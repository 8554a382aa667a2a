import re
from collections.abc import Sequence

import pytest

from app.domain.blocks import BlockKind
from app.domain.evidence import FormKind, Passage, Source, snapshot_hash
from retrieval.corpora.documents import read_content
from retrieval.language.blocks import find_blocks, kind_of
from retrieval.ports import Document, cut_passage
from workflows.agents.brief.choosing import choose_units
from workflows.agents.brief.entries import leave_out_other_entries
from workflows.agents.brief.layout import lay_out
from workflows.agents.brief.ranking import RankedUnit
from workflows.agents.brief.splitting import split_passage
from workflows.agents.brief.units import Unit

TEXT = (
    "Replacing the filter\n\nREAD THIS FIRST.\n\n"
    "The filter sits behind the lower grille. It must be replaced every six months.\n\n"
    "Model | Part | Price\n\nUF-480 | filter | 38.50\n\nUF-720 | filter | 44.00\n\n"
    "ufctl reset --filter\n\n"
    "滤网每半年更换一次。"
)


def make_passage(text: str = TEXT, start: int = 0) -> Passage:
    source = Source(url="https://example.org/manual", title="Manual", snapshot=snapshot_hash(text))
    return Passage(source=source, text=text, start=start, end=start + len(text))


def show(units: Sequence[Unit]) -> str:
    return lay_out([unit.to_quote() for unit in units], [unit.form for unit in units])


def test_sentences_rows_and_commands_are_units_and_headings_are_none() -> None:
    units = split_passage(make_passage())
    assert [(unit.kind, unit.text) for unit in units] == [
        (FormKind.SENTENCE, "The filter sits behind the lower grille."),
        (FormKind.SENTENCE, "It must be replaced every six months."),
        (FormKind.ROW, "UF-480 | filter | 38.50"),
        (FormKind.ROW, "UF-720 | filter | 44.00"),
        (FormKind.CODE, "ufctl reset --filter"),
        (FormKind.SENTENCE, "滤网每半年更换一次。"),
    ]


def test_a_unit_needs_what_it_points_back_to_and_a_row_the_head_of_its_table() -> None:
    units = split_passage(make_passage())
    before = [unit.before.text if unit.before else "" for unit in units]
    head = "Model | Part | Price"
    assert before == ["", "The filter sits behind the lower grille.", head, head, "", ""]


def test_a_quote_is_exactly_its_stretch_of_the_stored_copy() -> None:
    for unit in split_passage(make_passage(start=40)):
        quote = unit.to_quote()
        assert quote.text == TEXT[quote.start - 40 : quote.end - 40]


def test_a_numbered_chapter_is_a_heading_and_an_item_of_a_list_is_none() -> None:
    steps = ["Bring the spare key", "1) Open the upper lid", "2) Close the upper lid"]
    lines = ["2.1 Strains and medium", f"- {steps[0]}", *steps[1:], "3.2 Held at 41 degrees", "4. Pets", "One cat is allowed."]
    units = split_passage(make_passage("\n\n".join(lines)))
    assert [unit.text for unit in units] == [*steps, "3.2 Held at 41 degrees", "One cat is allowed."]
    assert [units[0].heading, units[-1].heading] == ["2.1 Strains and medium", "4. Pets"]


def test_lines_of_a_list_without_marks_are_units_and_what_heads_them_is_none() -> None:
    slide = "Pricing\nRaise the list price in spring\nKeep the free tier\nNo discount for resellers\nPets\nOne cat is allowed."
    units = split_passage(make_passage(slide))
    assert [unit.text for unit in units] == [
        "Raise the list price in spring",
        "Keep the free tier",
        "No discount for resellers",
        "One cat is allowed.",
    ]
    assert [units[0].heading, units[-1].heading] == ["Pricing", "Pets"]


def test_a_colon_opens_a_list() -> None:
    units = split_passage(make_passage("Bring these things:\n\nTent and pegs\n\nBoots\n\nRope"))
    assert [unit.text for unit in units] == ["Bring these things:", "Tent and pegs", "Boots", "Rope"]


def test_a_passage_of_headings_alone_has_them_as_units() -> None:
    assert [unit.text for unit in split_passage(make_passage("Hotel Mirabell"))] == ["Hotel Mirabell"]


def test_sentences_end_in_other_scripts_too() -> None:
    units = split_passage(make_passage("أين يقع المتحف الكبير؟ يقع المتحف في وسط المدينة القديمة."))
    assert len(units) == 2


def test_a_passage_from_the_middle_of_a_table_keeps_its_head_and_its_heading() -> None:
    text = "Staff\n\nName | Post | City\nAnna | Guard | Rome\nBob | Clerk | Berlin\nCarla | Manager | Oslo"
    source, cut = make_passage(text).source, text.index("Bob")
    part = cut_passage(Document(source=source, text=text, blocks=tuple(find_blocks(text))), cut, len(text))
    units = split_passage(part)
    assert [unit.text for unit in units] == ["Bob | Clerk | Berlin", "Carla | Manager | Oslo"]
    assert units[0].in_context == "Staff: Name | Post | City: Bob | Clerk | Berlin"
    head = units[0].before
    assert head
    assert head.to_quote().text == text[head.to_quote().start : head.to_quote().end]
    rows = make_passage(text[cut:], start=cut)
    assert [unit.before for unit in split_passage(rows)] == [None, None], "a row in the middle of a table is no head"


def test_a_row_is_ranked_with_the_head_of_its_table() -> None:
    row = split_passage(make_passage("Prices\n\nCity | Rent\nOslo | 900"))[-1]
    assert row.in_context == "Prices: City | Rent: Oslo | 900"


@pytest.mark.parametrize(
    "text",
    [
        "The meeting on 12/03/2024 was moved to Room 4",
        "注册资本为人民币3500万元(含税)",
        "He lived in and/or near Rome (see below)",
    ],
)
def test_prose_with_a_stroke_or_a_bracket_is_no_command(text: str) -> None:
    assert kind_of(text) is not BlockKind.CODE


@pytest.mark.parametrize("text", ["ufctl reset --filter", "cp /etc/hosts /tmp/hosts", "retry_limit = 3", "client.close()"])
def test_a_command_is_code(text: str) -> None:
    assert kind_of(text) is BlockKind.CODE


def test_items_of_a_list_are_shown_as_one() -> None:
    marked = split_passage(make_passage("Not covered are:\n- damage by lightning or water\n- seals and other parts that wear"))
    steps = split_passage(make_passage("1. Unplug the freezer first.\n2. Wait for ten full minutes.\n3. Plug it in again."))
    for units, first in ((marked[1:], "- “damage by lightning or water”"), (steps, "- “1. Unplug the freezer first.”")):
        lines = show(units).splitlines()
        assert len(lines) == len(units)
        assert lines[0].startswith(first)
        assert all(line.startswith("- ") for line in lines)


def test_a_dash_within_a_line_is_no_mark_of_an_item() -> None:
    units = split_passage(make_passage("Hot drinks stay in the foyer – the crisps too, because of the noise."))
    assert [unit.text for unit in units] == ["Hot drinks stay in the foyer – the crisps too, because of the noise."]


def test_lines_of_marks_are_no_units_and_a_quotation_in_a_source_is_not_cut() -> None:
    text = "==========\nThe board met on Tuesday evening.\n\nHe said, “Wait here. I shall be back.” Then he went away again."
    assert [unit.text for unit in split_passage(make_passage(text))] == [
        "The board met on Tuesday evening.",
        "He said, “Wait here. I shall be back.”",
        "Then he went away again.",
    ]


def test_a_short_line_in_the_middle_of_a_text_is_no_title() -> None:
    text = "The supply is old.\nSo I am\n\nopposed to it and said so.\n\nSupply\n\nIt comes from the street."
    units = split_passage(make_passage(text))
    assert [unit.heading for unit in units if unit.head] == ["Supply"]
    assert "So I am" in [unit.text for unit in units]


def test_a_heading_that_a_reader_told_is_one_however_it_looks() -> None:
    found = read_content(
        ".md", b"# Manual\n\nText.\n\n## 3.5 How cold? [linux]\n\nIt stays cold.\n\n## macOS: the linker\n\nIt fails.\n"
    )
    source = make_passage(found.text).source
    units = split_passage(cut_passage(Document(source=source, text=found.text, blocks=found.blocks), 0, len(found.text)))
    assert [unit.text for unit in units] == ["Text.", "It stays cold.", "It fails."]
    chosen = choose_units([RankedUnit(unit, 1.0) for unit in units], 100)
    headings = [each.unit.text for each in chosen if each.unit.kind is FormKind.HEADING]
    assert headings == ["3.5 How cold? [linux]", "macOS: the linker"]


def test_a_heading_that_is_underlined_ends_before_its_line() -> None:
    units = split_passage(make_passage("Guide\n\nRead this.\n\nSecurity of keys\n----------------\n\nKeep them safe."))
    assert [(unit.heading, unit.text) for unit in units] == [("Guide", "Read this."), ("Security of keys", "Keep them safe.")]


def test_what_stands_under_a_heading_is_one_block_in_its_order_and_the_best_block_comes_first() -> None:
    text = "Locking up\n\nCheck both rooms at night. Set the alarm then.\n\nGetting in\n\nTake a key from the office."
    passage = make_passage(text)
    units = {unit.text: unit for unit in split_passage(passage)}
    alarm, rooms, key = units["Set the alarm then."], units["Check both rooms at night."], units["Take a key from the office."]
    told = [key.head, key, alarm.head, alarm, rooms]
    lines = [re.sub(r" ?\[\[\w+\]\]", "", line) for line in show([unit for unit in told if unit]).split("\n\n")]
    assert lines == [
        "**Getting in**",
        "“Take a key from the office.”",
        "**Locking up**",
        "“Check both rooms at night.” “Set the alarm then.”",
    ]


def test_marks_of_mail_and_stage_directions_are_no_text_and_who_moved_a_motion_stays_with_it() -> None:
    text = ">> The fob is lost again.\n\n[Laughter]\n\n3. Glass is banned today. Seconded by Lin. (GP / RK)\n4. The roof is done."
    assert [unit.text for unit in split_passage(make_passage(text))] == [
        "The fob is lost again.",
        "3. Glass is banned today.",
        "Seconded by Lin. (GP / RK)",
        "4. The roof is done.",
    ]


def test_the_lines_that_head_a_mail_are_not_quoted_and_end_what_stood_above_them() -> None:
    mail = (
        "Parking\n\nOne car is allowed.\n\n-----------\nFrom: Ida Holm\nTo: All tenants\nSubject: The lift\n\n"
        "Ida, Jon,\n\nThe lift stands still since Monday."
    )
    units = split_passage(make_passage(mail))
    assert [unit.text for unit in units] == ["One car is allowed.", "Ida, Jon,", "The lift stands still since Monday."]
    assert [unit.heading for unit in units] == ["Parking", "", ""]
    minutes = split_passage(make_passage("Minutes of the board\n\nDate: 4 March 2024 at ten\n\nThe lift stands still."))
    assert [unit.text for unit in minutes] == ["Date: 4 March 2024 at ten", "The lift stands still."]


def test_numbered_clauses_are_items_of_a_list() -> None:
    clauses = (
        "Closing\n\n5.1 Park the dome at north.\n\n5.2 Press the red knob. It clicks twice.\n\n5.3 Lock the door.\n\nThat is all."
    )
    units = split_passage(make_passage(clauses))
    assert [unit.group > 0 for unit in units] == [True, True, True, True, False]
    assert [unit.item for unit in units[:4]] == [1, 2, 2, 3]


def test_the_sentences_of_an_item_stand_at_one_mark() -> None:
    passage = make_passage("Rules:\n\n- Feed the cat. It is hungry.\n\n- Lock the door.")
    shown = show([unit for unit in split_passage(passage) if not unit.opens])
    assert re.sub(r"\[\[\w+\]\]", "", shown) == "- “Feed the cat.” “It is hungry.”\n- “Lock the door.”"


def test_a_remark_at_its_end_makes_no_sentence_of_a_heading() -> None:
    units = split_passage(make_passage("3.2.1 (27 May 2024)\n\nThe lamp is off as delivered."))
    assert [(unit.heading, unit.text) for unit in units] == [("3.2.1 (27 May 2024)", "The lamp is off as delivered.")]


def test_a_heading_comes_with_the_numbered_one_above_it() -> None:
    lines = ["3.2.0 (9 April 2024)", "New", "A key for the lid.", "Changed", "Doors lock by themselves."]
    units = split_passage(make_passage("\n\n".join([*lines, "3.1.0 (2 May 2023)", "Changed", "The lamp is red."]), start=50))
    assert units[-1].in_context == "3.1.0 (2 May 2023): Changed: The lamp is red."
    chosen = choose_units([RankedUnit(units[-1], 1.0), RankedUnit(units[1], 0.9)], 100)
    shown = re.sub(r" ?\[\[\w+\]\]", "", show([each.unit for each in chosen]))
    assert shown == (
        "**3.1.0 (2 May 2023)**\n\n**Changed**\n\n“The lamp is red.”\n\n"
        "**3.2.0 (9 April 2024)**\n\n**Changed**\n\n“Doors lock by themselves.”"
    )


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("1.5 Models with moving parts (the beam engine, the", BlockKind.ITEM),
        ("Keys for members of the", BlockKind.PARAGRAPH),
        ("1.5 Models with moving parts (lent by the college)", BlockKind.HEADING),
        ("What to look for", BlockKind.HEADING),
        ("Who we are", BlockKind.HEADING),
    ],
)
def test_a_line_that_was_broken_in_a_sentence_is_no_heading(line: str, kind: BlockKind) -> None:
    assert kind_of(line) is kind


def test_the_title_of_a_source_is_not_quoted_though_it_gives_figures() -> None:
    units = split_passage(make_passage("COLD STORE 2 - OPERATING MANUAL\n\nThe store is kept at two degrees.\n"))
    assert [unit.text for unit in units] == ["The store is kept at two degrees."]
    (note,) = split_passage(make_passage("milk 12 pints on Friday\neggs 3 dozen on Monday\n"))
    assert note.text == "milk 12 pints on Friday\neggs 3 dozen on Monday"


MESSAGES = """Messages of the pump

E07  High pressure.
     Brush the fins and wait for 20 minutes.
E08  Low pressure.
     Ring the engineer at once.

The pump stands behind the door.
"""


@pytest.mark.parametrize(
    ("question", "left_out"),
    [
        ("pump says e08, what now?", ["E07  High pressure.", "Brush the fins and wait for 20 minutes."]),
        ("Which messages does the pump show?", []),
        ("The pump shows E09, what now?", []),
        ("What do E07 and E08 mean?", []),
    ],
)
def test_who_asks_about_one_message_is_shown_no_other(question: str, left_out: list[str]) -> None:
    units = split_passage(make_passage(MESSAGES))
    kept = leave_out_other_entries(question, units)
    assert [unit.text for unit in units if unit not in kept] == left_out
