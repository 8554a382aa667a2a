"""The formats of exported reports."""

from enum import StrEnum


class ExportFormat(StrEnum):
    """A whole document, or (`bibtex`, `ris`, `csl`) the cited sources for a reference manager."""

    PDF = "pdf"
    DOCX = "docx"
    LATEX = "latex"
    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"
    BIBTEX = "bibtex"
    RIS = "ris"
    CSL = "csl"

    @property
    def media_type(self) -> str:
        """The media type that IANA registers, or that reference managers expect."""
        return _KINDS[self][0]

    @property
    def extension(self) -> str:
        """The ending of a file name, without the dot."""
        return _KINDS[self][1]


_KINDS = {
    ExportFormat.PDF: ("application/pdf", "pdf"),
    ExportFormat.DOCX: ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
    ExportFormat.LATEX: ("application/x-tex", "tex"),
    ExportFormat.HTML: ("text/html", "html"),
    ExportFormat.MARKDOWN: ("text/markdown", "md"),
    ExportFormat.JSON: ("application/json", "json"),
    ExportFormat.BIBTEX: ("application/x-bibtex", "bib"),
    ExportFormat.RIS: ("application/x-research-info-systems", "ris"),
    ExportFormat.CSL: ("application/vnd.citationstyles.csl+json", "json"),
}
