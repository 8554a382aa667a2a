"""The values of a page's form fields, and the text of its annotations."""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from retrieval.corpora.pdf.pieces import Box

_UNSEEN = 2 | 32
"""Flags of an annotation: hidden, not to be viewed."""
_PASSWORD = 1 << 13
_REMARKS = {
    pdfium.FPDF_ANNOT_TEXT: "Note",
    pdfium.FPDF_ANNOT_FREETEXT: "Note",
    pdfium.FPDF_ANNOT_STAMP: "Stamp",
    pdfium.FPDF_ANNOT_CARET: "Insertion",
    pdfium.FPDF_ANNOT_HIGHLIGHT: "Comment",
    pdfium.FPDF_ANNOT_UNDERLINE: "Comment",
    pdfium.FPDF_ANNOT_SQUIGGLY: "Comment",
    pdfium.FPDF_ANNOT_STRIKEOUT: "Struck out, comment",
    pdfium.FPDF_ANNOT_LINE: "Comment",
    pdfium.FPDF_ANNOT_SQUARE: "Comment",
    pdfium.FPDF_ANNOT_CIRCLE: "Comment",
    pdfium.FPDF_ANNOT_POLYGON: "Comment",
    pdfium.FPDF_ANNOT_POLYLINE: "Comment",
    pdfium.FPDF_ANNOT_INK: "Comment",
}
_SHOWN = {pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_STAMP}
_MARKED = {pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON}
_CHOSEN = {pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX}
_PLAIN_STATES = {"", "on", "off", "true", "x"}


class FieldValue(NamedTuple):
    """The value of a form field, its place, and its name for people. `mark`: it is a ticked or empty box, for `option`."""

    text: str
    name: str
    box: Box
    mark: bool = False
    option: str = ""


class Remark(NamedTuple):
    """An annotation's text with its label. One with a `box` is seen there, by its drawing; `name` is its kind of stamp."""

    label: str
    text: str
    box: Box | None
    name: str


class PageNotes(NamedTuple):
    """What is written on a page besides its text."""

    fields: list[FieldValue]
    remarks: list[Remark]


def read_notes(page: pypdfium2.PdfPage, form: Any) -> PageNotes:
    """Read a page's visible fields and annotations; `form` is the handle of the document's form, None without one."""
    notes = PageNotes([], [])
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        with _open_annotation(page, number) as annotation:
            if annotation and not pdfium.FPDFAnnot_GetFlags(annotation) & _UNSEEN:
                kind = pdfium.FPDFAnnot_GetSubtype(annotation)
                if kind == pdfium.FPDF_ANNOT_WIDGET and form:
                    notes.fields.extend(_read_field(annotation, form))
                elif kind in _REMARKS:
                    notes.remarks.append(_read_remark(annotation, kind))
    return notes


@contextmanager
def _open_annotation(page: pypdfium2.PdfPage, number: int) -> Iterator[Any]:
    annotation = pdfium.FPDFPage_GetAnnot(page, number)
    try:
        yield annotation
    finally:
        if annotation:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _read_field(annotation: Any, form: Any) -> Iterator[FieldValue]:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, annotation)
    name = _read_words(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    name = name or _read_words(pdfium.FPDFAnnot_GetFormFieldName, form, annotation).replace("_", " ")
    place = _read_place(annotation)
    if kind in _MARKED:
        state = _read_words(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation)
        ticked = pdfium.FPDFAnnot_IsChecked(form, annotation)
        telling = state.lower() not in _PLAIN_STATES and not state.isdigit()
        option = state if telling and (ticked or kind == pdfium.FPDF_FORMFIELD_RADIOBUTTON) else ""
        yield FieldValue("[x]" if ticked else "[ ]", name, place, mark=True, option=option)
    elif kind == pdfium.FPDF_FORMFIELD_TEXTFIELD and pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return
    elif kind in _CHOSEN or kind == pdfium.FPDF_FORMFIELD_TEXTFIELD:
        value = _read_choice(annotation, form) if kind in _CHOSEN else ""
        value = value or _read_words(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
        if value:
            yield FieldValue(value, name, place)


def _read_choice(annotation: Any, form: Any) -> str:
    """Return the labels of the chosen options: the value itself may be a code."""
    count = pdfium.FPDFAnnot_GetOptionCount(form, annotation)
    chosen = [number for number in range(count) if pdfium.FPDFAnnot_IsOptionSelected(form, annotation, number)]
    labels = [_read_words(lambda *call: pdfium.FPDFAnnot_GetOptionLabel(*call), form, annotation, number) for number in chosen]
    return ", ".join(label for label in labels if label)


def _read_remark(annotation: Any, kind: int) -> Remark:
    contents = _read_words(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")
    name = _read_words(pdfium.FPDFAnnot_GetStringValue, annotation, b"Name") if kind == pdfium.FPDF_ANNOT_STAMP else ""
    return Remark(_REMARKS[kind], contents, _read_place(annotation) if kind in _SHOWN else None, name)


def _read_place(annotation: Any) -> Box:
    box = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, box)
    return box.left, box.bottom, box.right, box.top


def _read_words(read: Callable[..., int], *asked: Any) -> str:
    """Return a text that PDFium writes into a buffer, in one line; the first call tells the buffer's size."""
    size = read(*asked, None, 0)
    if size <= 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    read(*asked, buffer, size)
    return " ".join(bytes(buffer)[: size - 2].decode("utf-16-le", errors="replace").split())
