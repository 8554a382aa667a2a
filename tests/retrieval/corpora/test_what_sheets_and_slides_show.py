"""Workbooks and presentations as their programs show them: formats, spans, formulas, hidden and struck parts, charts, notes."""

import io
import zipfile
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Font
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from retrieval.corpora.extract import Extract
from retrieval.corpora.office.number_format import write_value
from retrieval.corpora.office.slides import read_pptx
from retrieval.corpora.office.workbook import read_xlsx


def save(document: Any) -> bytes:
    content = io.BytesIO()
    document.save(content)
    return content.getvalue()


def change(content: bytes, part: str, old: str, new: str) -> bytes:
    """The package with words of its parts replaced; `part` begins their names."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as package, zipfile.ZipFile(changed, "w") as made:
        for name in package.namelist():
            member = package.read(name)
            made.writestr(name, member.replace(old.encode(), new.encode()) if name.startswith(part) else member)
    assert changed.getvalue() != content
    return changed.getvalue()


def make_book(*rows: list[Any]) -> Any:
    book = Workbook()
    book.active.title = "Tolls"
    for row in rows:
        book.active.append(row)
    return book


def read_rows(book: Any) -> list[str]:
    return read_xlsx(save(book)).text.split("\n\n")[1:]


@pytest.mark.parametrize(
    ("stored", "code", "shown"),
    [
        ("2.5", "[h]:mm", "60:00"),
        ("0.75", "h:mm AM/PM", "6:00 PM"),
        ("42", "00000", "00042"),
        ("1234567.5", '#,##0.00 "crowns"', "1,234,567.50 crowns"),
        ("-19.9", "[$€-407] #,##0.00;[Red]([$€-407] #,##0.00)", "(€ 19.90)"),
        ("19.9", '_("$"* #,##0.00_)', "$19.90"),
        ("2500000", '0.0,,"M"', "2.5M"),
        ("0.155", "0.0%", "15.5%"),
        ("7", '0"%"', "7%"),
        ("3.25", "# ?/?", "3 1/4"),
        ("0.375", "# ?/8", "3/8"),
        ("3.375", "# ?/8", "3 3/8"),
        ("602000", "0.00E+00", "6.02E+05"),
        ("123456789", "000-00-0000", "123-45-6789"),
        ("5551234", "[<=9999999]###-####;(###) ###-####", "555-1234"),
        ("45356", "dddd, mmmm d, yyyy", "Tuesday, March 5, 2024"),
        ("45356.604166667", "dd.mm.yyyy hh:mm", "2024-03-05 14:30"),
        ("45352", "mmm-yy", "Mar-24"),
        ("0", '0.0;-0.0;"none"', "none"),
        ("0.00002", "General", "0.00002"),
        ("12", '@" boxes"', "12 boxes"),
        ("N/A", "0.00", "N/A"),
        ("-7", '0" in";@', "-7 in"),
    ],
)
def test_a_number_reads_as_its_format_shows_it(stored: str, code: str, shown: str) -> None:
    assert write_value(stored, code) == shown


def test_a_text_reads_as_its_format_shows_it() -> None:
    formats = ['"Quay: "@', '0.00;-0.00;0;"Ship "@" (old)"', "_-* #,##0_-;_-@_-", "0.00", "General", ";;;"]
    book = make_book(["North"] * len(formats))
    for cell, code in zip(book.active[1], formats, strict=True):
        cell.number_format = code
    found = read_xlsx(save(book))
    assert found.text.split("\n\n")[1] == "Quay: North | Ship North (old) | North | North | North"
    assert found.note == "cells that their format hides were not read (1)"


def test_days_count_from_1904_where_a_workbook_says_so() -> None:
    book = make_book([1])
    book.active["A1"].number_format = "yyyy-mm-dd"
    book.active["A1"].value = 1
    assert (
        read_xlsx(change(save(book), "xl/workbook.xml", "<workbookPr", '<workbookPr date1904="1"')).text == "Tolls\n\n1904-01-02"
    )


def test_merged_cells_stand_in_each_row_and_column() -> None:
    book = make_book(["Tolls of the quay"], ["Year", "Ships"], [None, "in", "out"], [1950, 3, 4], [None, 5, 6])
    for place in ("A1:C1", "A2:A3", "B2:C2", "A4:A5"):
        book.active.merge_cells(place)
    assert read_rows(book) == ["Tolls of the quay", "Year | Ships | Ships", "Year | in | out", "1950 | 3 | 4", "1950 | 5 | 6"]


def test_a_formula_without_a_saved_value_is_read_itself_and_a_note_says_so() -> None:
    found = read_xlsx(save(make_book(["Sum", "=2*3"])))
    assert (found.text, found.note) == ("Tolls\n\nSum | =2*3", "1 formulas have no saved value: the formula itself was read")


def test_what_is_hidden_is_left_out_and_a_note_says_so() -> None:
    book = make_book(["Year", "Draft", "Toll"], [1950, 1, 5], [1951, 2, 6])
    book.active.row_dimensions[2].hidden = True
    book.active.column_dimensions["B"].hidden = True
    book.create_sheet("Costs").append([900])
    book["Costs"].sheet_state = "veryHidden"
    found = read_xlsx(save(book))
    assert found.text == "Tolls\n\nYear |  | Toll\n\n1951 |  | 6"
    for said in ("1 hidden rows of the sheet 'Tolls'", "hidden columns of the sheet 'Tolls'", "the hidden sheet 'Costs'"):
        assert said in found.note


def test_raised_and_struck_text_of_cells() -> None:
    raised, struck = InlineFont(vertAlign="superscript"), InlineFont(strike=True)
    book = make_book([CellRichText("10", TextBlock(raised, "6"), " cells", TextBlock(struck, " seven")), "nine", "five"])
    book.active["B1"].font = Font(strike=True)
    found = read_xlsx(save(book))
    assert (found.text, found.note) == ("Tolls\n\n10^6 cells |  | five", "struck-out text was left out")


def test_charts_and_comments_of_a_sheet_are_read() -> None:
    book = make_book(["Year", "Toll"], ["Y1951", 5])
    book.active["B2"].comment = Comment("Until June", "Ida")
    chart = BarChart()
    chart.title = "Tolls by year"
    chart.add_data(Reference(book.active, min_col=2, min_row=1, max_row=2), titles_from_data=True)
    book.active.add_chart(chart, "D1")
    found = read_xlsx(save(book))
    assert "Tolls by year" in found.text
    assert "Comment on B2: Until June" in found.text
    assert found.note == "the values of a chart were not saved with it, and not read"


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("xl/styles.xml", "<fill><patternFill /></fill>", "<fill/>"),
        ("xl/theme", "<a:theme", "<a:broken"),
        ("xl/worksheets", 'r="A1"', ""),
        ("xl/", "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main"),
    ],
)
def test_what_excel_opens_is_read(part: str, old: str, new: str) -> None:
    content = save(make_book(["North", 312]))
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        old = old if any(old.encode() in package.read(name) for name in package.namelist()) else old.replace(" />", "/>")
    assert read_xlsx(change(content, part, old, new)).text == "Tolls\n\nNorth | 312"


def make_slides() -> tuple[Any, Any]:
    slides = Presentation()
    return slides, slides.slides.add_slide(slides.slide_layouts[5])


def read_slides(slides: Any) -> Extract:
    return read_pptx(save(slides))


def test_a_chart_of_a_slide_gives_its_categories_and_values() -> None:
    slides, slide = make_slides()
    data = CategoryChartData(number_format='0.0" crowns"')
    data.categories = ["1951", "1952"]
    data.add_series("Toll", (5, 6.5))
    data.add_series("Rent", (None, 7))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(4), Inches(3), data)
    found = read_slides(slides)
    assert found.text == " | Toll | Rent\n\n1951 | 5.0 crowns\n\n1952 | 6.5 crowns | 7.0 crowns".strip()
    assert found.note == ""


def test_categories_of_a_chart_on_two_levels_have_their_group() -> None:
    slides, slide = make_slides()
    data = CategoryChartData()
    year = data.add_category("1951")
    year.add_sub_category("May")
    year.add_sub_category("June")
    data.add_series("Toll", (1, 2))
    slide.shapes.add_chart(XL_CHART_TYPE.PIE, Inches(1), Inches(1), Inches(4), Inches(3), data)
    assert read_slides(slides).text == "| Toll\n\n1951 May | 1\n\n1951 June | 2"


def test_hidden_slides_are_left_out_and_a_note_says_so() -> None:
    slides, slide = make_slides()
    slide.shapes.title.text = "Seven"
    slide._element.set("show", "0")
    shown = slides.slides.add_slide(slides.slide_layouts[5])
    shown.shapes.title.text = "Five"
    shown.notes_slide.notes_text_frame.text = "Say: in May."
    found = read_slides(slides)
    assert (found.text, found.note, found.title, found.author, found.changed) == (
        "Five\n\nSay: in May.",
        "hidden slides were not read",
        "",
        "",
        None,
    )


def test_raised_struck_and_numbered_text_of_slides() -> None:
    slides, slide = make_slides()
    frame = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(3), Inches(1)).text_frame
    for text, setting, value in (
        ("10", "", ""),
        ("6", "baseline", "30000"),
        (" cells", "", ""),
        (" seven", "strike", "sngStrike"),
    ):
        run = frame.paragraphs[0].add_run()
        run.text = text
        if setting:
            run._r.get_or_add_rPr().set(setting, value)
    for text in ("Rent", "Toll"):
        paragraph = frame.add_paragraph()
        paragraph.text = text
        properties = paragraph._p.get_or_add_pPr()
        properties.append(properties.makeelement(properties.tag.replace("pPr", "buAutoNum"), {"type": "romanUcPeriod"}))
    assert read_slides(slides).text == "- 10^6 cells\n\nI. Rent\n\nII. Toll"


def test_cells_of_slides_that_span_others_stand_in_each_of_them() -> None:
    slides, slide = make_slides()
    table = slide.shapes.add_table(3, 3, Inches(1), Inches(1), Inches(4), Inches(2)).table
    for (row, column), text in {
        (0, 0): "Year",
        (0, 1): "Ships",
        (1, 0): "1950",
        (1, 1): "3",
        (1, 2): "4",
        (2, 1): "5",
        (2, 2): "6",
    }.items():
        table.cell(row, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    assert read_slides(slides).text == "Year | Ships | Ships\n\n1950 | 3 | 4\n\n1950 | 5 | 6"
