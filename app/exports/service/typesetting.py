"""Typeset a document as PDF: Typst, with fonts that come with the product and none of the machine's."""

import json
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from app.exports.service.document import ReportDocument
from app.exports.service.glyphs import replace_missing

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

    def can_show(text: str) -> bool:
        """Let the typesetter tell: in an archival PDF it refuses a character that no font has."""
        given = {"text": text}
        probe = typst.Compiler(b"#sys.inputs.text", font_paths=fonts, ignore_system_fonts=True, sys_inputs=given)
        try:
            probe.compile(format="pdf", pdf_standards=["a-2b"])
        except typst.TypstError:
            return False
        return True

    shown = json.dumps(replace_missing(document.model_dump(mode="json"), can_show))
    compiler = typst.Compiler(template, font_paths=fonts, ignore_system_fonts=True, sys_inputs={"document": shown})
    made = compiler.compile(format="pdf", timestamp=finished.astimezone(UTC).replace(microsecond=0))
    if not isinstance(made, bytes):
        raise TypeError("Typst made several files of one document")
    return made
