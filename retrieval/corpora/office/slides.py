"""A reader of presentations: the text of each slide with its tables, charts and diagrams, then its notes and comments."""

from collections.abc import Iterator
from typing import Any

from app.domain.blocks import BlockKind
from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.corpora.formulas import write_formula
from retrieval.corpora.list_numbers import write_number
from retrieval.corpora.marks import mark, mark_page
from retrieval.corpora.office.charts import list_drawings
from retrieval.corpora.office.package import OfficePackage, open_office_package
from retrieval.corpora.raised import join_levels
from retrieval.corpora.table import join_merged

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_DEPTH = 20
_OFF = ("0", "false")
_TITLES = ("title", "ctrTitle")
_MARGINS = ("sldNum", "dt")
"""Placeholders for the slide's number and the day of printing."""
_NUMBER_FORMS = {
    "arabic": "decimal",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
}


def read_pptx(content: bytes) -> Extract:
    """Read a presentation. Hidden slides are left out, and a note says so."""
    with open_office_package(content, "a presentation (.pptx)") as package:
        main = package.find_main()
        links = package.list_relations(main)
        order = [links.get(slide.get(f"{_R}id", "")) for slide in package.parse(main).iterfind("{*}sldIdLst/{*}sldId")]
        slides = [(number, link.target) for number, link in enumerate(order, 1) if link is not None]
        blocks = [
            mark_page(number, block.strip()) for number, part in slides for block in _list_slide(package, part) if block.strip()
        ]
        return package.make_extract("\n\n".join(blocks))


def _list_slide(package: OfficePackage, part: str) -> Iterator[str]:
    slide = package.parse(part)
    if slide is None:
        return
    if slide.get("show", "1") in _OFF:
        package.notes.append("hidden slides were not read")
        return
    yield from _list_shapes(package, part, slide)
    for kind in ("notesSlide", "comments"):
        for more in package.find_parts(part, kind):
            yield from _list_remarks(package, more)


def _list_remarks(package: OfficePackage, part: str) -> Iterator[str]:
    """Yield the speaker's notes, or comments. The picture of the slide on a page of notes is no text."""
    root = package.parse(part)
    if root is None:
        return
    for shape in root.iter("{*}sp"):
        placeholder = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
        if placeholder is not None and placeholder.get("type") == "body":
            yield "\n".join(text for text in map(_read_paragraph, shape.iter(f"{_A}p")) if text)
    for comment in root.iter("{*}cm"):
        yield f"Comment: {comment.findtext('{*}text') or ' '.join(map(_read_paragraph, comment.iter(f'{_A}p')))}"


def _list_shapes(package: OfficePackage, part: str, slide: Any) -> Iterator[str]:
    links = package.list_relations(part)
    for shape in _find_shapes(slide, 0):
        placeholder = shape.find("{*}nvSpPr/{*}nvPr/{*}ph")
        about = shape.find("*/{*}cNvPr")
        if about is not None and about.get("hidden") in ("1", "true"):
            package.notes.append("hidden shapes were not read")
        elif shape.tag.endswith("}graphicFrame"):
            yield from (row for table in shape.iter(f"{_A}tbl") for row in _list_rows(table))
            yield from list_drawings(package, links, shape)
        elif placeholder is None or placeholder.get("type") not in _MARGINS:
            yield from _list_lines(shape, placeholder is not None and placeholder.get("type") in _TITLES)


def _find_shapes(element: Any, depth: int) -> Iterator[Any]:
    """Yield the shapes and frames of a slide, also those in groups."""
    if depth > _DEPTH:
        raise SourceUnreadable("has groups of shapes nested too deeply")
    for child in element:
        if not isinstance(child.tag, str) or child.tag == _FALLBACK:
            continue
        if child.tag.endswith(("}sp", "}graphicFrame", "}cxnSp")):
            yield child
        elif child.tag.endswith(("}cSld", "}spTree", "}grpSp", "}AlternateContent", "}Choice")):
            yield from _find_shapes(child, depth + child.tag.endswith("}grpSp"))


def _list_lines(shape: Any, is_title: bool) -> Iterator[str]:
    """Yield the paragraphs of a shape, each with its number or a bullet unless the shape holds one alone, as a title does."""
    counts: dict[str, int] = {}
    found = [(paragraph, text) for paragraph in shape.iter(f"{_A}p") if (text := _read_paragraph(paragraph))]
    for paragraph, text in found:
        number = _count_paragraph(paragraph, counts)
        if number or len(found) > 1:
            yield mark(BlockKind.ITEM, f"{number or '-'} {text}")
        else:
            yield mark(BlockKind.HEADING, text, 1) if is_title else text


def _count_paragraph(paragraph: Any, counts: dict[str, int]) -> str:
    """Return the automatic number of a paragraph. `counts` has the last number of each level."""
    level = paragraph.find("{*}pPr").get("lvl", "0") if paragraph.find("{*}pPr") is not None else "0"
    for below in [other for other in counts if other > level]:
        del counts[below]
    shape = paragraph.find("{*}pPr/{*}buAutoNum")
    if shape is None:
        counts.pop(level, None)
        return ""
    counts[level] = counts[level] + 1 if level in counts else int(shape.get("startAt", 1))
    form = shape.get("type", "arabicPeriod")
    kind = next((kind for name, kind in _NUMBER_FORMS.items() if form.startswith(name)), "decimal")
    before, after = ("(" if "ParenBoth" in form else ""), (")" if "Paren" in form else "." if "Period" in form else "")
    return f"{before}{write_number(counts[level], kind)}{after}"


def _read_paragraph(paragraph: Any) -> str:
    return join_levels(_list_pieces(paragraph)).strip()


def _list_pieces(element: Any) -> Iterator[tuple[str, str]]:
    """Yield the runs of a paragraph, each with its level. Struck runs are left out."""
    for child in element:
        if child.tag == _MATH:
            yield "", " ".join(write_formula(child).split())
        elif child.tag in (f"{_A}r", f"{_A}fld"):
            settings = child.find("{*}rPr")
            raised = int(settings.get("baseline", "0").rstrip("%") or 0) if settings is not None else 0
            if settings is None or settings.get("strike", "noStrike") == "noStrike":
                yield "superscript" if raised > 0 else "subscript" if raised < 0 else "", child.findtext("{*}t") or ""
        elif child.tag == f"{_A}br":
            yield "", "\n"
        elif isinstance(child.tag, str) and child.tag != _FALLBACK and not child.tag.endswith("Pr"):
            yield from _list_pieces(child)


def _list_rows(table: Any) -> Iterator[str]:
    """Yield the rows of a table. A cell that spans rows or columns gives its text in each of them."""
    above: list[str] = []
    for row in table.iterfind(f"{_A}tr"):
        cells: list[str] = []
        merged = False
        for column, cell in enumerate(row.iterfind(f"{_A}tc")):
            text = " ".join(" ".join(map(_read_paragraph, cell.iter(f"{_A}p"))).split())
            if cell.get("hMerge") in ("1", "true"):
                merged, text = True, cells[-1] if cells else text
            elif cell.get("vMerge") in ("1", "true"):
                text = above[column] if column < len(above) else text
            cells.append(text)
        yield join_merged(cells, merged)
        above = cells
