"""Office files, books and tables in a person's folder: read, or reported with a reason that person understands."""

import io
import random
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import pytest
from docx import Document as Word
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches

from retrieval.corpora.documents import FolderCorpus, read_content
from retrieval.corpora.office import workbook
from retrieval.corpora.ports import UnreadableItem
from retrieval.corpora.zip_package import MAX_UNPACKED
from retrieval.ports import Document

CONTAINER = '<container xmlns="c"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Zenda</dc:title>'
    "<dc:creator>Anthony Hope</dc:creator><dc:date>1894-04-01</dc:date></metadata><manifest>"
    '<item id="b" href="two.xhtml"/><item id="a" href="one%20.xhtml"/></manifest>'
    '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
)


def read(folder: Path) -> tuple[dict[str, Document], dict[str, str]]:
    items = list(FolderCorpus(folder).read_documents())
    documents = {item.source.url.rpartition("/")[2]: item for item in items if isinstance(item, Document)}
    return documents, {item.path: item.reason for item in items if isinstance(item, UnreadableItem)}


def packed(members: dict[str, str | bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as package:
        for name, member in members.items():
            package.writestr(name, member)
    return content.getvalue()


def word(paragraphs: int = 0) -> Word:
    document = Word()
    document.core_properties.title, document.core_properties.author = "Tariffs", "Ida Tarbell"
    document.add_heading("The wool tariff", 1)
    document.add_paragraph("Duties on wool rose in 1890.")
    table = document.add_table(2, 2)
    for cell, text in zip((cell for row in table.rows for cell in row.cells), ("Year", "Duty", "1890", "49%"), strict=True):
        cell.text = text
    document.add_paragraph("They fell again later.")
    for number in range(paragraphs):
        document.add_paragraph(f"Paragraph {number} of a long report on wool. " * 10)
    return document


def book(**changes: str) -> bytes:
    chapter = "<html xmlns='x'><head><title>no</title></head><body><h1>{0}</h1><p>Text of {0}.</p></body></html>"
    members: dict[str, str | bytes] = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": PACKAGE,
        "OEBPS/one .xhtml": chapter.format("One"),
        "OEBPS/two.xhtml": chapter.format("Two"),
    }
    return packed(members | changes)


def test_word_powerpoint_excel_book_and_table_are_read(tmp_path: Path) -> None:
    word().save(str(tmp_path / "a.docx"))
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = "Wool"
    slide.shapes.add_textbox(Inches(1), Inches(1), Inches(3), Inches(1)).text_frame.text = "Imports rose."
    slide.shapes.add_table(1, 2, Inches(1), Inches(2), Inches(3), Inches(1)).table.cell(0, 0).text = "1890"
    slide.notes_slide.notes_text_frame.text = "Say this slowly."
    slides.save(str(tmp_path / "b.pptx"))
    sheets = Workbook()
    sheets.active.title = "Duties"
    sheets.active.append(["Year", None, "Duty"])
    sheets.active.append([1890, None, 0.49])
    sheets.save(tmp_path / "c.xlsx")
    (tmp_path / "d.epub").write_bytes(book())
    (tmp_path / "e.csv").write_text('Year;Duty\n1890;"49;5"\n')
    documents, failed = read(tmp_path)
    assert failed == {}
    assert (
        documents["a.docx"].text
        == "The wool tariff\n\nDuties on wool rose in 1890.\n\nYear | Duty\n\n1890 | 49%\n\nThey fell again later."
    )
    assert (documents["a.docx"].source.title, documents["a.docx"].source.author) == ("Tariffs", "Ida Tarbell")
    assert documents["b.pptx"].text == "Wool\n\nImports rose.\n\n1890\n\nSay this slowly."
    assert documents["c.xlsx"].text == "Duties\n\nYear |  | Duty\n\n1890 |  | 0.49"
    assert documents["d.epub"].text == "One\n\nText of One.\n\nTwo\n\nText of Two."
    source = documents["d.epub"].source
    assert (source.title, source.author, str(source.published)) == ("Zenda", "Anthony Hope", "1894-04-01")
    assert documents["e.csv"].text == "Year | Duty\n\n1890 | 49;5"


def test_lines_of_a_book_are_joined_except_where_its_reader_sees_them(tmp_path: Path) -> None:
    chapter = "<html><body><p>The king was at Zenda,\n  which is a small\n  town.</p><pre>Roses\n  and lilies</pre></body></html>"
    (tmp_path / "a.epub").write_bytes(book(**{"OEBPS/two.xhtml": chapter}))
    documents, _ = read(tmp_path)
    assert documents["a.epub"].text.endswith("The king was at Zenda, which is a small town.\n\nRoses\n  and lilies")


def test_a_report_of_five_hundred_pages_is_read_whole(tmp_path: Path) -> None:
    word(paragraphs=4_000).save(str(tmp_path / "long.docx"))
    documents, failed = read(tmp_path)
    assert failed == {}
    assert len(documents["long.docx"].text) > 1_500_000
    assert documents["long.docx"].text.rstrip().endswith("Paragraph 3999 of a long report on wool.")


def test_a_sheet_is_read_whole_whatever_size_it_states(tmp_path: Path) -> None:
    sheets = Workbook()
    sheets.active.append(["Year", "Duty"])
    sheets.active.append([1890, 0.49])
    with zipfile.ZipFile(io.BytesIO(saved(sheets))) as package:
        members: dict[str, str | bytes] = {name: package.read(name) for name in package.namelist()}
    stated = cast("bytes", members["xl/worksheets/sheet1.xml"])
    cut = stated.replace(b'<dimension ref="A1:B2"', b'<dimension ref="A1"')
    assert cut != stated
    (tmp_path / "a.xlsx").write_bytes(packed(members | {"xl/worksheets/sheet1.xml": cut}))
    documents, failed = read(tmp_path)
    assert failed == {}
    assert documents["a.xlsx"].text == "Sheet\n\nYear | Duty\n\n1890 | 0.49"


def test_a_workbook_reads_as_its_sheet_shows_it(tmp_path: Path) -> None:
    sheets = Workbook()
    sheets.active.append([datetime(2024, 4, 2), datetime(2024, 4, 2, 14, 30), True, 0.1 + 0.2, 0.07, 1, 7, 41_250.0])
    for cell, form in zip(sheets.active[1][4:7], ("0%", "0.0%;[Red]-0.0%", '0"%"'), strict=True):
        cell.number_format = form
    sheets.save(tmp_path / "a.xlsx")
    documents, _ = read(tmp_path)
    assert documents["a.xlsx"].text == "Sheet\n\n2024-04-02 | 2024-04-02 14:30:00 | TRUE | 0.3 | 7% | 100.0% | 7% | 41250"


BOMB = "a" * (30 << 20)
LAUGHS = '<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY out SYSTEM "file:///etc/hostname">]>'


def doctored(part: str) -> bytes:
    """A Word document one part of which begins with a document type."""
    saved = io.BytesIO()
    word().save(saved)
    with zipfile.ZipFile(saved) as package:
        members: dict[str, str | bytes] = {name: package.read(name) for name in package.namelist()}
    content = members[part]
    assert isinstance(content, bytes)
    head, _, body = content.partition(b"?>")
    return packed(members | {part: head + b"?>" + LAUGHS.encode() + body})


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("broken.docx", b"PK\x03\x04 nothing more", "is damaged or not a Word document"),
        ("empty.xlsx", b"", "is damaged or not a workbook"),
        ("half.pptx", packed({"ppt/presentation.xml": "<x/>"}), "is damaged or not a presentation"),
        ("locked.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "is encrypted, or in the format from before 2007"),
        ("bomb.docx", packed({"word/document.xml": BOMB}), "would unpack from"),
        ("bomb.epub", packed({"OEBPS/one.xhtml": BOMB}), "would unpack from"),
        ("laughs.docx", doctored("word/document.xml"), "declares entities in word/document.xml"),
        ("laughs-too.docx", doctored("docProps/core.xml"), "declares entities in docProps/core.xml"),
        ("other.epub", packed({"hello.txt": "x"}), "is damaged or not an EPUB book"),
        (
            "bought.epub",
            book(**{"META-INF/encryption.xml": '<e xmlns="x"><CipherReference URI="OEBPS/two.xhtml"/></e>'}),
            "is protected against copying",
        ),
        ("nothing.docx", b"", "is damaged or not a Word document"),
        ("old.doc", b"\xd0\xcf\x11\xe0", "is of a kind that is not read (.doc)"),
        ("blank.csv", b"\n,,\n", "is empty"),
    ],
)
def test_what_cannot_be_read_is_reported(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(content)
    documents, failed = read(tmp_path)
    assert documents == {}
    assert reason in failed[name]
    assert str(tmp_path) not in failed[name]


def saved(document: Any) -> bytes:
    content = io.BytesIO()
    document.save(content)
    return content.getvalue()


def test_items_of_lists_keep_a_mark_and_titles_have_none(tmp_path: Path) -> None:
    document = Word()
    document.add_paragraph("Before you leave")
    document.add_paragraph("Close the windows", style="List Bullet")
    document.add_heading("When you return", 1)._p.get_or_add_pPr().get_or_add_numPr()
    document.save(str(tmp_path / "a.docx"))
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = "Pricing"
    slide.placeholders[1].text = "Raise the list price\nKeep the free tier"
    slides.save(str(tmp_path / "b.pptx"))
    documents, _ = read(tmp_path)
    assert documents["a.docx"].text == "Before you leave\n\n- Close the windows\n\nWhen you return"
    assert documents["b.pptx"].text == "Pricing\n\n- Raise the list price\n\n- Keep the free tier"


def test_a_sheet_says_that_it_was_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbook, "MAX_ROWS", 3)
    sheets = Workbook()
    cast("Any", sheets.active).title = "Duties"
    for row in (["1890"], [], ["1894"], ["1897"], ["1909"]):
        cast("Any", sheets.active).append(row)
    file = io.BytesIO()
    sheets.save(file)
    found = workbook.read_xlsx(file.getvalue())
    assert (found.text, found.note) == ("Duties\n\n1890\n\n1894\n\n1897", "only the first 3 rows were read")


@pytest.mark.parametrize("kind", ["a.docx", "b.pptx", "c.xlsx", "d.epub"])
def test_whatever_is_damaged_inside_a_file_is_reported_or_read(tmp_path: Path, kind: str) -> None:
    sheets = Workbook()
    sheets.active.append(["Year", 1890])
    made = {"a.docx": saved(word()), "b.pptx": saved(Presentation()), "c.xlsx": saved(sheets), "d.epub": book()}[kind]
    with zipfile.ZipFile(io.BytesIO(made)) as package:
        members: dict[str, str | bytes] = {name: package.read(name) for name in package.namelist()}
    chance = random.Random(kind)
    parts = sorted(name for name in members if name.endswith((".xml", ".rels", ".opf", ".xhtml")))
    for number in range(60):
        name = chance.choice(parts)
        content = bytearray(cast("bytes", members[name]))
        for _ in range(chance.randint(1, 6)):
            content[chance.randrange(len(content))] = chance.randrange(32, 127)
        (tmp_path / f"{number}-{kind}").write_bytes(packed(members | {name: bytes(content)}))
    documents, failed = read(tmp_path)
    assert len(documents) + len(failed) >= 60
    assert failed


@pytest.mark.parametrize("kind", [".docx", ".pptx", ".xlsx", ".epub"])
def test_names_with_backslashes_are_found(kind: str) -> None:
    sheets = Workbook()
    sheets.active.append(["Year", 1890])
    slides = Presentation()
    slides.slides.add_slide(slides.slide_layouts[5]).shapes.title.text = "Wool"
    made = {".docx": saved(word()), ".pptx": saved(slides), ".xlsx": saved(sheets), ".epub": book()}[kind]
    with zipfile.ZipFile(io.BytesIO(made)) as package:
        turned = packed({name.replace("/", "\\"): package.read(name) for name in package.namelist()})
    assert read_content(kind, turned) == read_content(kind, made)


def test_a_package_with_a_password_is_reported(tmp_path: Path) -> None:
    content = bytearray(book())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag says encrypted, as ZIP tools set it
        at = content.find(mark)
        while at >= 0:
            content[at + offset] |= 1
            at = content.find(mark, at + 1)
    (tmp_path / "book.epub").write_bytes(bytes(content))
    assert read(tmp_path)[1] == {"book.epub": "is encrypted: a password is needed"}


def test_sizes_that_lie_do_not_get_past_the_cap(tmp_path: Path) -> None:
    """A member that unpacks to more than it states ends at what it states."""
    true = packed({"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": PACKAGE, "OEBPS/two.xhtml": "b" * (8 << 20)})
    lied = true.replace((8 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little"))
    assert lied != true
    (tmp_path / "liar.epub").write_bytes(lied)
    documents, failed = read(tmp_path)
    assert documents == {}
    assert "damaged" in failed["liar.epub"]
    assert MAX_UNPACKED < 1 << 30


def test_entities_in_a_book_are_not_expanded(tmp_path: Path) -> None:
    chapter = LAUGHS.replace("w [", "html [") + "<html><body><p>Hear: &b; &out; end.</p></body></html>"
    (tmp_path / "book.epub").write_bytes(
        book(**{"OEBPS/two.xhtml": chapter, "OEBPS/book.opf": LAUGHS + PACKAGE.replace("Zenda", "Z&out;")})
    )
    documents, _ = read(tmp_path)
    shown = documents["book.epub"].text + documents["book.epub"].source.title
    assert "haha" not in shown
    assert Path("/etc/hostname").read_text().strip() not in shown
