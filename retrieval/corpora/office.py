"""Readers of Word, PowerPoint and Excel files (since 2007): paragraphs, and a line for each row of a table."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time
from itertools import islice
from typing import Any

from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.corpora.table import join_cells
from retrieval.corpora.zip_package import open_package, refuse_entities

MAX_ROWS = 200_000
"""The most rows of a workbook that are read, over all its sheets."""
_DEPTH = 20
_LITERAL = re.compile(r'"[^"]*"|\\.')
"""Characters of a number format that stand for themselves: a % among them does not make the number a share."""


def read_docx(content: bytes) -> Extract:
    """Read a Word document: paragraphs, headings, tables and text boxes in their order, with tracked changes accepted."""
    from docx import Document as open_docx
    from docx.exceptions import PythonDocxError
    from docx.opc.exceptions import OpcError

    from retrieval.corpora.word_blocks import list_blocks

    with open_package(content, "a Word document (.docx)", (PythonDocxError, OpcError)) as package:
        refuse_entities(package)
        document = open_docx(io.BytesIO(content))
        return _extract_of(list_blocks(document.element.body, document), document.core_properties, open_docx().core_properties)


def read_pptx(content: bytes) -> Extract:
    """Read a presentation: the text of each slide, then its notes."""
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    with open_package(content, "a presentation (.pptx)", (PythonPptxError,)) as package:
        refuse_entities(package)
        presentation = Presentation(io.BytesIO(content))
        blocks: list[str] = []
        for slide in presentation.slides:
            blocks.extend(_shape_texts_of(slide.shapes))
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
                blocks.append(slide.notes_slide.notes_text_frame.text)
        return _extract_of(blocks, presentation.core_properties, Presentation().core_properties)


def read_xlsx(content: bytes) -> Extract:
    """Read a workbook: each sheet's name, then its rows. A formula gives the value that was saved with it."""
    from openpyxl import load_workbook
    from openpyxl.packaging.core import DocumentProperties
    from openpyxl.utils.exceptions import InvalidFileException

    with open_package(content, "a workbook (.xlsx)", (InvalidFileException,)) as package:
        refuse_entities(package)
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        blocks: list[str] = []
        left = MAX_ROWS
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # some programs state a size that is too small
            rows = list(map(_join_values, islice(sheet.iter_rows(), left)))
            left -= len(rows)
            filled = [row for row in rows if row]
            blocks += [sheet.title, *filled] if filled else []
        note = f"only the first {MAX_ROWS:,} rows were read" if left <= 0 else ""
        return _extract_of(blocks, book.properties, DocumentProperties(), note)


def _shape_texts_of(shapes: Iterable[Any], depth: int = 0) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            if depth > _DEPTH:
                raise SourceUnreadable("has groups of shapes nested too deeply")
            yield from _shape_texts_of(shape.shapes, depth + 1)
        elif getattr(shape, "has_table", False):
            yield from (_join_row(cell.text for cell in row.cells) for row in shape.table.rows)
        elif getattr(shape, "has_text_frame", False):
            yield from _frame_lines_of(shape)


def _frame_lines_of(shape: Any) -> Iterator[str]:
    """Yield the paragraphs of a shape, each with a bullet unless the shape holds one alone, as a title does."""
    lines = [line for paragraph in shape.text_frame.paragraphs if (line := paragraph.text.strip())]
    yield from lines if len(lines) == 1 else (f"- {line}" for line in lines)


def _join_row(texts: Iterable[str]) -> str:
    """Join the texts of a row's cells with bars."""
    return join_cells(" ".join(text.split()) for text in texts)


def _join_values(cells: Sequence[Any]) -> str:
    return _join_row(map(_show_value, cells))


def _show_value(cell: Any) -> str:
    """Return the value of a workbook's cell as its sheet shows it, not as Python does."""
    match cell.value:
        case None:
            return ""
        case bool(value):
            return str(value).upper()
        case datetime() as value if value.time() == time():
            return value.date().isoformat()
        case int(value) | float(value) if "%" in _LITERAL.sub("", cell.number_format):
            return f"{value * 100:.15g}%"
        case float(value):
            return f"{value:.15g}"
        case value:
            return str(value)


def _extract_of(blocks: Iterable[str], properties: Any, template: Any, note: str = "") -> Extract:
    """Return the text with its metadata. What is as in the `template` of the library that may have written it says nothing."""
    text = "\n\n".join(filter(None, (block.replace("\x0b", "\n").strip() for block in blocks)))
    told = {name: _tell_property(properties, template, name) for name in ("title", "author", "creator", "modified", "created")}
    changed = told["modified"] or told["created"]
    return Extract(
        text,
        title=told["title"] or "",
        author=told["author"] or told["creator"] or "",
        changed=changed.date() if changed is not None else None,
        note=note,
    )


def _tell_property(properties: Any, template: Any, name: str) -> Any:
    value = getattr(properties, name, None)
    return None if value == getattr(template, name, None) else value
