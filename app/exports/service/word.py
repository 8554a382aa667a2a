"""Write a document for Word: Pandoc writes it; then styles get Latin and Chinese fonts, and pages a header and a footer."""

from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import orjson

from app.exports.service.document import ReportDocument
from app.exports.service.pandoc import run_pandoc
from app.exports.service.pandoc_tree import Node, make_raw_block, to_tree

if TYPE_CHECKING:
    from docx.document import Document as Word
    from docx.table import Table
    from docx.text.paragraph import Paragraph

# A4, in twentieths of a point.
SHORT_SIDE, LONG_SIDE, MARGIN = 11906, 16838, 1300
SERIF, SANS = ("Cambria", "SimSun"), ("Calibri", "Microsoft YaHei")
INK, SOFT, ACCENT, PANEL, LINE = "1D2329", "56626C", "1F5F8B", "F5F5F0", "C9CDCB"
BODY = ("Normal", "Body Text", "First Paragraph", "Compact", "Block Text", "Table")
HEADINGS = {"Title": 22, "Heading 1": 15, "Heading 2": 12.5, "Heading 3": 11, "Heading 4": 10.5}
HEADER_CHARS = 90


def to_docx(document: ReportDocument) -> bytes:
    """Return a Word file with navigable headings, a link from each number to its quotation and back, and tables that fit.

    Raises:
        PandocFailed: the document cannot be written for Word.
    """
    import docx

    content = orjson.dumps(
        to_tree(document, (_make_section_end(SHORT_SIDE, LONG_SIDE), _make_section_end(LONG_SIDE, SHORT_SIDE)), contents=True)
    )
    word = docx.Document(BytesIO(run_pandoc(content, "--from=json", "--to=docx", "--output=-")))
    _dress_styles(word)
    for table in word.tables:
        _dress_table(table)
    for above, below in pairwise(word.paragraphs):
        # The name of a source stays on the page of its first quotation.
        if _is_quotation(below) and not _is_quotation(above):
            above.paragraph_format.keep_with_next = True
    _dress_pages(word, document)
    finished = BytesIO()
    word.save(finished)
    return finished.getvalue()


def _is_quotation(paragraph: "Paragraph") -> bool:
    return paragraph.style is not None and paragraph.style.name == "Block Text"


def _make_section_end(width: int, height: int) -> Node:
    """Return the end of a section with pages of this size, in twentieths of a point."""
    side = ' w:orient="landscape"' if width > height else ""
    size = f'<w:pgSz w:w="{width}" w:h="{height}"{side}/>'
    edges = "".join(f'w:{edge}="{MARGIN}" ' for edge in ("top", "right", "bottom", "left"))
    margins = f'<w:pgMar {edges}w:header="600" w:footer="600" w:gutter="0"/>'
    return make_raw_block("openxml", f"<w:p><w:pPr><w:sectPr>{size}{margins}</w:sectPr></w:pPr></w:p>")


def _dress_styles(word: "Word") -> None:
    from docx.shared import Pt

    for name in BODY:
        _set_font(word.styles[name], SERIF, 10.5, INK)
    for name, size in HEADINGS.items():
        _set_font(word.styles[name], SANS, size, INK)
        word.styles[name].font.bold = True
    _set_font(word.styles["Date"], SANS, 9, SOFT)
    if "Where" in word.styles:  # Pandoc makes it for the first reference
        _set_font(word.styles["Where"], SANS, 8, SOFT)
    _set_font(word.styles["Hyperlink"], SERIF, None, ACCENT)
    for name in ("Title", "Date"):
        word.styles[name].paragraph_format.alignment = 0
    quoted = word.styles["Block Text"].paragraph_format
    quoted.space_before = quoted.space_after = Pt(3)
    quoted.left_indent, quoted.right_indent = Pt(18), Pt(0)


def _set_font(style: Any, family: tuple[str, str], size: float | None, colour: str) -> None:
    """Set Latin letters in the first family, Chinese in the second; themes of the reader's machine do not interfere."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import Pt, RGBColor

    style.font.name = family[0]
    if size is not None:
        style.font.size = Pt(size)
    style.font.color.rgb = RGBColor.from_string(colour)
    fonts = style.element.rPr.rFonts
    for name in list(fonts.attrib):
        if name.endswith("Theme"):
            del fonts.attrib[name]
    for kind, name in (("ascii", family[0]), ("hAnsi", family[0]), ("eastAsia", family[1])):
        fonts.set(qn(f"w:{kind}"), name)
    spoken = style.element.rPr.find(qn("w:lang"))
    if spoken is None:
        spoken = OxmlElement("w:lang")
        style.element.rPr.append(spoken)
    spoken.set(qn("w:val"), "en-GB")
    spoken.set(qn("w:eastAsia"), "zh-CN")


def _dress_table(table: "Table") -> None:
    """Draw lines under the rows, shade the head, which repeats on each page, and make the print smaller for many columns."""
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls
    from docx.shared import Pt

    border = f'w:val="single" w:sz="4" w:space="0" w:color="{LINE}"'
    borders = f"<w:top {border}/><w:bottom {border}/><w:insideH {border}/>"
    table._tbl.tblPr.append(parse_xml(f"<w:tblBorders {nsdecls('w')}>{borders}</w:tblBorders>"))
    for cell in table.rows[0].cells:
        shade = f'<w:shd {nsdecls("w")} w:val="clear" w:color="auto" w:fill="{PANEL}"/>'
        cell._tc.get_or_add_tcPr().append(parse_xml(shade))
    columns = len(table.columns)
    size = Pt(7.5 if columns > 6 else 8.5 if columns > 4 else 9.5)
    for row in table.rows:
        for paragraph in (p for cell in row.cells for p in cell.paragraphs):
            for run in paragraph._p.iter("{http://schemas.openxmlformats.org/wordprocessingml/2006/main}r"):
                run.get_or_add_rPr().sz_val = size


def _dress_pages(word: "Word", document: ReportDocument) -> None:
    from docx.shared import Twips

    last = word.sections[-1]
    last.page_width, last.page_height = Twips(SHORT_SIDE), Twips(LONG_SIDE)
    last.left_margin = last.right_margin = last.top_margin = last.bottom_margin = Twips(MARGIN)
    first = word.sections[0]
    title = document.title if len(document.title) <= HEADER_CHARS else document.title[: HEADER_CHARS - 1] + "…"
    _add_small_text(first.header.paragraphs[0], title)
    footer = first.footer.paragraphs[0]
    _add_small_text(footer, f"{document.date} · ")
    _add_page_number(footer)
    word.core_properties.title = document.title[:255]
    word.core_properties.author = ""
    word.core_properties.language = "zh-CN" if document.language == "zh" else "en"


def _add_small_text(paragraph: Any, text: str) -> None:
    from docx.shared import Pt, RGBColor

    run = paragraph.add_run(text)
    run.font.size, run.font.color.rgb = Pt(8), RGBColor.from_string(SOFT)


def _add_page_number(paragraph: Any) -> None:
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    said = '<w:r><w:rPr><w:sz w:val="16"/></w:rPr><w:t>1</w:t></w:r>'
    paragraph._p.append(parse_xml(f'<w:fldSimple {nsdecls("w")} w:instr=" PAGE ">{said}</w:fldSimple>'))
