"""Typeset a document as PDF: Typst, with fonts that come with the product and none of the machine's."""

from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from app.exports.service.document import ReportDocument

# Packages that hold only fonts under the SIL Open Font Licence. Typst itself brings Latin fonts.
FONT_PACKAGES = ("manimgx_fonts_cjk", "pylopdf_fonts_zh_cn")


def to_pdf(document: ReportDocument, finished: datetime) -> bytes:
    """Return a PDF with bookmarks, tags for screen readers, and a link from each number to its quotation and back.

    Raises:
        typst.TypstError: the document cannot be typeset.
    """
    import typst

    folders = [str(Path(str(files(name)))) for name in FONT_PACKAGES]
    fonts = typst.Fonts(include_system_fonts=False, font_paths=folders)
    template = files("app.exports.service").joinpath("report.typ").read_bytes()
    compiler = typst.Compiler(
        template, font_paths=fonts, ignore_system_fonts=True, sys_inputs={"document": document.model_dump_json()}
    )
    made = compiler.compile(format="pdf", timestamp=finished.astimezone(UTC).replace(microsecond=0))
    if not isinstance(made, bytes):
        raise TypeError("Typst made several files of one document")
    return made
