"""The date, title and author of a file: what it says goes before what a program noted, and a library's defaults say nothing."""

from collections.abc import Callable
from datetime import date, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest
from docx import Document as Word
from openpyxl import Workbook
from pptx import Presentation

from app.domain.evidence import Source
from retrieval.corpora.documents import FolderCorpus
from retrieval.ports import Document

CHANGED = datetime(2024, 6, 7, 8, 9)


def read(folder: Path) -> Document:
    (document,) = FolderCorpus(folder).read_documents()
    assert isinstance(document, Document)
    return document


def source_of(folder: Path) -> Source:
    return read(folder).source


def write_word(path: Path, *paragraphs: str, changed: datetime | None = None) -> None:
    word = Word()
    for paragraph in paragraphs:
        word.add_paragraph(paragraph)
    if changed:
        word.core_properties.modified = changed
    word.save(str(path))


def write_mail(path: Path, subject: str = "Lease of 2 May 2019") -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "Ida <ida@example.org>", "Max <max@example.org>", subject
    mail["Date"] = "Tue, 05 Mar 2024 23:30:00 -0500"
    mail.set_content("Dear Max,\n\nSigned on 14 January 2025.")
    mail.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename="lease.pdf")
    path.write_bytes(bytes(mail))


def test_a_mail_has_the_date_of_its_header(tmp_path: Path) -> None:
    write_mail(tmp_path / "2023-01-01 lease.eml")
    found = [item for item in FolderCorpus(tmp_path).read_documents() if isinstance(item, Document)]
    (mail,) = found
    assert (mail.source.title, mail.source.author, mail.source.published) == (
        "Lease of 2 May 2019",
        "Ida <ida@example.org>",
        date(2024, 3, 5),
    )
    assert mail.text.startswith("From: Ida <ida@example.org>\nTo: Max <max@example.org>")
    assert "Signed on 14 January 2025." in mail.text


def test_an_attachment_that_is_not_read_is_told(tmp_path: Path) -> None:
    write_mail(tmp_path / "lease.eml")
    assert any("1 attachments were not read" in str(item) for item in FolderCorpus(tmp_path).read_documents())


@pytest.mark.parametrize(
    ("name", "text", "day"),
    [
        ("2023-01-01 note.md", "---\ndate: 14. Januar 2025\n---\n\nDate: 3 March 2024", date(2025, 1, 14)),
        ("2023-01-01 note.md", "# Minutes of 5 May 2022\n\nDate: 3 March 2024", date(2022, 5, 5)),
        ("2023-01-01 note.txt", "Date: 3 March 2024", date(2023, 1, 1)),
        ("note.txt", "Date: 3 March 2024", date(2024, 3, 3)),
        ("纪要.txt", "会议时间：2024年3月5日", date(2024, 3, 5)),
        ("note.txt", "In 1990 much was said of 3 March 1989.", None),
    ],
)
def test_what_a_document_states_goes_before_its_name_and_its_name_before_its_text(
    tmp_path: Path, name: str, text: str, day: date | None
) -> None:
    (tmp_path / name).write_text(text)
    assert source_of(tmp_path).published == day


def test_the_last_change_counts_where_the_document_says_nothing(tmp_path: Path) -> None:
    write_word(tmp_path / "lease.docx", "The lease.", changed=CHANGED)
    assert source_of(tmp_path).published == CHANGED.date()


def test_the_text_goes_before_the_last_change(tmp_path: Path) -> None:
    write_word(tmp_path / "lease.docx", "The lease", "Signed on 14 January 2025", changed=CHANGED)
    assert source_of(tmp_path).published == date(2025, 1, 14)


def write_slides(path: Path) -> None:
    slides = Presentation()
    slides.slides.add_slide(slides.slide_layouts[0]).shapes.title.text = "The lease"
    slides.save(str(path))


def write_workbook(path: Path) -> None:
    book = Workbook()
    book.active.append(["The lease"])
    book.save(path)


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.docx", lambda path: write_word(path, "The lease.")), ("a.pptx", write_slides), ("a.xlsx", write_workbook)],
)
def test_the_defaults_of_the_library_that_wrote_a_file_say_nothing(
    tmp_path: Path, name: str, write: Callable[[Path], None]
) -> None:
    write(tmp_path / name)
    source = source_of(tmp_path)
    assert (source.title, source.author) == ("a", "")
    assert source.published in (None, date.today()), "the day of a template is none of the file's"


def test_a_title_that_says_that_there_is_none_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: untitled\nauthor: (anonymous)\n---\n\nThe lease.")
    source = source_of(tmp_path)
    assert (source.title, source.author) == ("a", "")
