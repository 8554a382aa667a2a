"""Small PDFs for tests: text at places, in sizes, with fields and annotations."""

import io
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pypdf import PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    PdfObject,
    TextStringObject,
)

BODY = 11.0
PLAIN = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica", "/Encoding": "/WinAnsiEncoding"}


class Text(NamedTuple):
    """A text at a place of a page; `y` is counted from the foot."""

    x: float
    y: float
    words: str
    size: float = BODY


class Appearance(NamedTuple):
    """What an annotation shows: a line of text in its box."""

    words: str
    width: float
    height: float


def lines(x: float, y: float, *words: str, size: float = BODY, leading: float = 14) -> list[Text]:
    """Lines one below the other."""
    return [Text(x, y - leading * number, line, size) for number, line in enumerate(words)]


def make_pdf(
    pages: Sequence[Iterable[Text]],
    annotations: Iterable[dict[str, Any]] = (),
    title: str = "",
    font: dict[str, Any] | None = None,
    drawings: Sequence[str] = (),
) -> bytes:
    """Make a PDF. `annotations` are those of the first page; `drawings` are further content of the pages, in their order."""
    writer = PdfWriter()
    resources = _to_pdf({"/Font": {"/F1": font or PLAIN}}, writer)
    for number, texts in enumerate(pages):
        page = writer.add_blank_page(width=612, height=792)
        page[NameObject("/Resources")] = resources
        stream = DecodedStreamObject()
        drawn = drawings[number] if number < len(drawings) else ""
        stream.set_data("\n".join([drawn, *map(_write, texts)]).encode("cp1252"))
        page[NameObject("/Contents")] = writer._add_object(stream)
    fields = [writer._add_object(_to_pdf({"/Type": "/Annot"} | annotation, writer)) for annotation in annotations]
    if fields:
        writer.pages[0][NameObject("/Annots")] = ArrayObject(fields)
        form = DictionaryObject({NameObject("/Fields"): ArrayObject(fields), NameObject("/NeedAppearances"): BooleanObject(True)})
        writer.root_object[NameObject("/AcroForm")] = form
    if title:
        writer.add_metadata({"/Title": title})
    content = io.BytesIO()
    writer.write(content)
    return content.getvalue()


def field(kind: str, name: str, box: Sequence[float], **about: Any) -> dict[str, Any]:
    """A form's field; further entries by their names in a PDF."""
    entries = {f"/{key}": value for key, value in about.items()}
    return {"/Subtype": "/Widget", "/FT": f"/{kind}", "/T": name, "/Rect": list(box), "/DA": "/Helv 11 Tf 0 g"} | entries


def _write(text: Text) -> str:
    words = text.words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return f"BT /F1 {text.size} Tf 1 0 0 1 {text.x} {text.y} Tm ({words}) Tj ET"


def _to_pdf(value: Any, writer: PdfWriter) -> PdfObject:
    match value:
        case Appearance(words, width, height):
            drawn = _to_pdf(_write(Text(2, 4, words)).encode(), writer)
            about = {
                "/Type": "/XObject",
                "/Subtype": "/Form",
                "/BBox": [0, 0, width, height],
                "/Resources": {"/Font": {"/F1": PLAIN}},
            }
            drawn.get_object().update(_to_pdf(about, writer))
            return drawn
        case dict():
            return DictionaryObject({NameObject(key): _to_pdf(member, writer) for key, member in value.items()})
        case list():
            return ArrayObject(_to_pdf(member, writer) for member in value)
        case str() if value.startswith("/"):
            return NameObject(value)
        case str():
            return TextStringObject(value)
        case int():
            return NumberObject(value)
        case bytes():
            stream = DecodedStreamObject()
            stream.set_data(value)
            return writer._add_object(stream)
    return FloatObject(value)
