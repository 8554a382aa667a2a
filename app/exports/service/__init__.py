"""Export reports as files that people send on: documents, and their sources for reference managers."""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

from app.domain.report import Report
from app.domain.run import Run
from app.exports.nouns import ExportFormat
from app.exports.service.bibliographies import to_bibtex, to_csl, to_ris
from app.exports.service.composing import Manuscript
from app.exports.service.conversion import Conversions
from app.exports.service.machine_readable import to_json
from app.exports.service.references import CslItem, csl_items_of
from app.reports.rendering.numbering import number_citations
from app.reports.rendering.words import WORDS
from app.reports.storage.reports import StoredReport

REFERENCES: Mapping[ExportFormat, Callable[[list[CslItem]], bytes]] = {
    ExportFormat.CSL: to_csl,
    ExportFormat.BIBTEX: to_bibtex,
    ExportFormat.RIS: to_ris,
}


class ExportedFile(NamedTuple):
    """A file, and the title for its name."""

    content: bytes
    title: str


class Exports:
    """The use case of exporting reports.

    Raises:
        Unavailable: the file cannot be made now.
        Conflict: this report cannot be made into this format.
    """

    def __init__(self, conversions: Conversions) -> None:
        self._conversions = conversions

    async def export(self, run: Run, stored: StoredReport, form: ExportFormat) -> ExportedFile:
        """Return this report of the run in this format."""
        report = Report.of_any_version(stored.report)
        if form is ExportFormat.MARKDOWN:
            return ExportedFile(stored.markdown.encode(), report.title)
        if form is ExportFormat.HTML:
            return ExportedFile(stored.html.encode(), report.title)
        query = run.query
        manuscript = Manuscript(report=report, question=query.question, language=query.language, finished=stored.created_at)
        return ExportedFile(await self._make(manuscript, form), report.title)

    async def _make(self, manuscript: Manuscript, form: ExportFormat) -> bytes:
        """Make a format that is not stored with the report."""
        if form is ExportFormat.JSON:
            return await asyncio.to_thread(to_json, manuscript)
        if form in REFERENCES:
            return await asyncio.to_thread(_write_references, manuscript, form)
        return await self._conversions.make(form, manuscript)


def _write_references(manuscript: Manuscript, form: ExportFormat) -> bytes:
    citations = number_citations(manuscript.report).citations
    return REFERENCES[form](csl_items_of(citations, WORDS[manuscript.language].untitled))
