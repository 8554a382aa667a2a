import re
import sys
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest

from app.domain.citations import marker_of
from app.domain.claims import Claim, Support
from app.domain.errors import Conflict, Unavailable
from app.domain.report import Section
from app.exports.nouns import ExportFormat
from app.exports.service.bibliographies import to_bibtex, to_csl, to_ris
from app.exports.service.clean import clean
from app.exports.service.column_widths import is_wide, share_width
from app.exports.service.composing import compose
from app.exports.service.conversion import Conversions
from app.exports.service.latex import to_latex
from app.exports.service.machine_readable import to_json
from app.exports.service.references import csl_items_of
from app.exports.service.typesetting import to_pdf
from app.exports.service.word import to_docx
from app.http.downloads import disposition_of
from app.reports.rendering.links import place_of
from app.reports.rendering.numbering import number_citations
from app.reports.rendering.page import to_page
from app.reports.rendering.text import to_markdown
from app.reports.rendering.words import WORDS
from app.reports.storage.reports import Surroundings
from bench import export_readers
from bench.exports import find_lost_parts
from tests.app.exports.example_reports import HOSTILE, PLAIN, TABLE, make_manuscript, make_quote


def test_a_lost_sentence_link_or_address_is_noticed() -> None:
    """The check that the other tests and the benchmark rest on can fail."""
    given = make_manuscript()
    document, citations = compose(given), number_citations(given.report).citations
    found = export_readers.read_latex_export(to_latex(document))
    assert not find_lost_parts(found, document, citations, sources_only=False)
    assert find_lost_parts(
        found._replace(words=found.words.replace("setapart", "")), document, citations, sources_only=False
    ) == ["set apart"]
    assert find_lost_parts(found._replace(numbers=found.numbers - {2}), document, citations, sources_only=False) == ["[2]"]
    assert len(find_lost_parts(found._replace(addresses=frozenset()), document, citations, sources_only=False)) == 2


def test_each_record_of_ris_begins_with_its_type_and_ends_with_its_end() -> None:
    made = to_ris(csl_items_of(number_citations(make_manuscript().report).citations, "untitled")).decode()
    records = made.split("\n\n")
    assert len(records) == 3
    for record in records:
        lines = record.strip("\n").split("\n")
        assert lines[0].startswith("TY  - ")
        assert lines[-1] == "ER  - "
        assert all(re.match(r"[A-Z][A-Z0-9]  - ", line) for line in lines)


def test_latex_obeys_nothing_that_a_source_says() -> None:
    text = to_latex(compose(make_manuscript())).decode()
    assert r"\input{" not in text
    assert text.count(r"\end{document}") == 1
    assert text.rstrip().endswith(r"\end{document}")
    assert r"\end{verbatim}" not in text
    assert r"\begin{landscape}" in text
    assert "{ctex}" in text


def test_a_pdf_stands_on_its_own_fonts_and_a_wide_table_on_its_side() -> None:
    import pypdf

    made = to_pdf(compose(make_manuscript()), make_manuscript().finished)
    assert made == to_pdf(compose(make_manuscript()), make_manuscript().finished)
    reader = pypdf.PdfReader(BytesIO(made))
    assert reader.metadata is not None
    assert reader.metadata.title == "Duties 关税: <b>& $5</b>"
    sides = {page.mediabox.width > page.mediabox.height for page in reader.pages}
    assert sides == {True, False}
    assert [entry.title for entry in reader.outline if not isinstance(entry, list)][:1] == ["Part 一"]
    fonts = [font.get_object() for page in reader.pages for font in page["/Resources"]["/Font"].values()]  # type: ignore[index]
    embedded = [font["/DescendantFonts"][0].get_object()["/FontDescriptor"].get_object() for font in fonts]
    assert embedded
    assert all({"/FontFile2", "/FontFile3"} & set(descriptor) for descriptor in embedded)


def test_what_the_fonts_of_a_pdf_lack_is_said_in_words_and_what_they_have_stays() -> None:
    import pypdf

    given = make_manuscript()
    body = (
        "Rice is \u0e02\u0e49\u0e32\u0e27 \u0e2b\u0e2d\u0e21 in Thai, \u0628\u064a\u062a is a house, "
        "\U0001f680\U0001f469\u200d\U0001f52c flew to \U0001f1f9\U0001f1ed \u2713 \u0915\u092e\u0932 \u12a0\u12f2\u1235."
    )
    sections = (Section(heading="Scripts", body=body),)
    report = given.report.model_copy(update={"sections": sections, "claims": (), "conflicts": ()})
    given = given.model_copy(update={"report": report})
    pages = pypdf.PdfReader(BytesIO(to_pdf(compose(given), given.finished))).pages
    text = " ".join("".join(page.extract_text() for page in pages).replace("\u200b", "").split())
    assert "Rice is [Thai text, 8 characters] in Thai" in text
    assert "[rocket, woman, microscope] flew to [flag TH] \u2713" in text
    assert "[Ethiopic text, 3 characters]" in text
    assert "This PDF has no letters for Ethiopic, Thai." in text
    assert "Devanagari" not in text
    assert "Arabic" not in text


CITED = f"A duty {marker_of(PLAIN)}."
ROWS = "\n".join(f"| {n} | A row of a table that is longer than a page |" for n in range(90))


@pytest.mark.parametrize(
    "body",
    [
        f"Use `git add x {marker_of(PLAIN)}` first.",
        f"```\n# {marker_of(PLAIN)}\n```",
        f"| Year | View {marker_of(PLAIN)} |\n|---|---|\n{ROWS}",
        f"| Year |\n|---|\n| 1832 | dropped {marker_of(PLAIN)} |",
        f"- {CITED}\n\n" + "\n".join(f"  {line}" for line in TABLE.split("\n")),
        f"{CITED}\n\n" + "\n".join(f"> {line}" for line in TABLE.split("\n")),
    ],
    ids=["code", "fence", "long-head", "dropped-cell", "wide-in-list", "wide-in-quotation"],
)
def test_a_pdf_is_made_wherever_citations_and_wide_tables_stand(body: str) -> None:
    import pypdf

    given = make_manuscript()
    sections = (Section(heading="Part", body=body),)
    report = given.report.model_copy(update={"sections": sections, "claims": (), "conflicts": ()})
    given = given.model_copy(update={"report": report})
    text = "".join(page.extract_text() for page in pypdf.PdfReader(BytesIO(to_pdf(compose(given), given.finished))).pages)
    assert PLAIN.text in text.replace("\u200b", "")
    assert ("Back to the text" in text) == (CITED in body or "View" in body)


def test_a_word_file_has_headings_fonts_for_chinese_and_no_field_that_fetches() -> None:
    import docx

    word = docx.Document(BytesIO(to_docx(compose(make_manuscript()))))
    headings = [p.text for p in word.paragraphs if p.style is not None and p.style.name.startswith("Heading")]  # type: ignore[union-attr]
    assert headings[:2] == ["Part 一", r"Sub #1 \x"]
    assert [section.orientation for section in word.sections] == [0, 1, 0]
    xml = word.styles.element.xml
    assert 'w:eastAsia="SimSun"' in xml
    assert "asciiTheme" not in word.styles["Normal"].element.xml
    assert not {"INCLUDE", "HYPERLINK", "DDE"} & set(word.element.xml.upper().split())


def test_own_documents_go_by_their_names_in_every_format_and_lead_nowhere() -> None:
    import docx
    import pypdf

    given = make_manuscript()
    document, numbering, words = compose(given), number_citations(given.report), WORDS[given.language]
    items = csl_items_of(numbering.citations, words.untitled)
    pdf = pypdf.PdfReader(BytesIO(to_pdf(document, given.finished)))
    word = docx.Document(BytesIO(to_docx(document)))
    made = {
        "pdf": "".join(page.extract_text() for page in pdf.pages),
        "docx": "\n".join(p.text for p in word.paragraphs),
        "latex": to_latex(document).decode(),
        "md": to_markdown(given.report, numbering, given.question, given.language),
        "csl": to_csl(items).decode(),
        "bibtex": to_bibtex(items).decode(),
        "ris": to_ris(items).decode(),
    }
    for form, text in made.items():
        assert "年报2020.pdf" in "".join(text.replace("\\ ", "").split()), form
        assert "file:" not in text, form
    assert not [rel for rel in word.part.rels.values() if rel.is_external and not rel.target_ref.startswith("http")]
    named = make_quote("x", "file:///5f0c/Budget%202025.pdf", title="Budget 2025.pdf").source
    assert place_of(named) == "", "its title says it"
    assert place_of(make_quote("x", "file:///Harbour/2025/b.pdf").source) == "2025/b.pdf"


async def test_making_a_file_ends_in_time_and_says_what_to_do() -> None:
    conversions = Conversions(limit=timedelta(milliseconds=50))
    with pytest.raises(Unavailable, match="try another format"):
        await conversions.make(ExportFormat.PDF, make_manuscript())


@pytest.mark.parametrize(("end", "kind"), [("exit 1", Conflict), ("kill -9 $$", Unavailable)])
async def test_only_a_failure_that_may_pass_asks_to_be_repeated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, end: str, kind: type[Exception]
) -> None:
    failing = tmp_path / "python"
    failing.write_text(f"#!/bin/sh\n{end}\n")
    failing.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(failing))
    with pytest.raises(kind, match="try another format"):
        await Conversions().make(ExportFormat.PDF, make_manuscript())


async def test_the_child_that_makes_files_knows_no_secret(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """A child that prints its environment and fails: the log shows what it knew, the reader does not."""
    telling = tmp_path / "python"
    telling.write_text("#!/bin/sh\nenv >&2\nexit 3\n")
    telling.chmod(0o700)
    monkeypatch.setenv("RUBRICA_DATABASE_URL", "postgresql://secret")
    monkeypatch.setattr(sys, "executable", str(telling))
    with pytest.raises(Conflict) as refused:
        await Conversions().make(ExportFormat.PDF, make_manuscript())
    assert "PYTHONPATH" in caplog.text
    assert "secret" not in caplog.text
    assert "PYTHONPATH" not in str(refused.value)


@pytest.mark.parametrize(
    ("title", "header"),
    [
        ("Duties, 1832", "attachment; filename=\"Duties-1832.pdf\"; filename*=UTF-8''Duties-1832.pdf"),
        ("关税", "attachment; filename=\"report.pdf\"; filename*=UTF-8''%E5%85%B3%E7%A8%8E.pdf"),
        ('x"\r\nSet-Cookie: a=b', "attachment; filename=\"x-Set-Cookie-a-b.pdf\"; filename*=UTF-8''x-Set-Cookie-a-b.pdf"),
        ("../../etc/passwd", "attachment; filename=\"etc-passwd.pdf\"; filename*=UTF-8''etc-passwd.pdf"),
        ("…", "attachment; filename=\"report.pdf\"; filename*=UTF-8''report.pdf"),
    ],
)
def test_a_file_is_named_by_its_title_and_nothing_else(title: str, header: str) -> None:
    assert disposition_of(title, "pdf") == header


def test_columns_share_the_width_by_what_they_hold() -> None:
    texts = [["Year", "What was said about it at the time"], ["1832", "Duties protect labor, and burden the farmer"]]
    year, said = share_width(texts)
    assert said > 3 * year
    assert year + said == pytest.approx(1)
    assert not is_wide(texts)
    assert is_wide([["column"] * 12])


def test_characters_that_are_no_text_or_turn_the_reading_direction_go() -> None:
    assert clean("a\x00b\u202egnp.exe\x0bc\ud800 关税\n") == "abgnp.exe\nc 关税\n"
    assert clean(HOSTILE) == HOSTILE


def test_a_fact_without_a_citation_is_marked_in_every_form() -> None:
    import docx
    import pypdf

    fact = "It had 35 million dollars of capital."
    given = make_manuscript()
    body = f"Duties protect labor. {fact}"
    claim = Claim(
        text=fact,
        section=0,
        start=body.index(fact),
        end=len(body),
        support=Support.UNCITED,
        reason="No citation stands behind this.",
        unsourced=True,
    )
    sections = (Section(heading="Summary", body=body), *given.report.sections)
    report = given.report.model_copy(update={"sections": sections, "claims": (claim,)})
    given = given.model_copy(update={"report": report})
    document, numbering = compose(given), number_citations(report)
    pdf = pypdf.PdfReader(BytesIO(to_pdf(document, given.finished)))
    made = {
        "pdf": "".join(page.extract_text() for page in pdf.pages),
        "docx": "\n".join(p.text for p in docx.Document(BytesIO(to_docx(document))).paragraphs),
        "latex": to_latex(document).decode(),
        "md": to_markdown(report, numbering, given.question, given.language),
        "html": to_page(
            report, numbering, given.question, given.language, {c.n: Surroundings("", "") for c in numbering.citations}
        ),
        "json": to_json(given).decode(),
    }
    for form, text in made.items():
        plain = "".join(re.sub(r"<[^>]*>", "", text).split())
        assert "Ithad35milliondollarsofcapital.¶" in plain.replace("\\P{}", "¶").replace("{\\P}", "¶"), form
    assert all("¶ no citation gives" in " ".join(made[form].split()) for form in ("pdf", "docx", "latex"))
    assert '"No citation stands behind this."' in made["json"]
    assert 'title="No citation stands behind this."' in made["html"]
