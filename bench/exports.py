"""`python -m bench.exports`: write one bilingual report of some thirty pages in every format, and read each with another program.

A format is intact when that program finds every sentence, every reference with its exact quotation, and every link from a number
to its quotation, and the words of hostile sources are plain text. `--keep FOLDER` keeps the files.
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote
from uuid import UUID

import orjson

from app.domain.citations import Citation
from app.domain.query import ResearchQuery
from app.domain.run import Run, RunStatus
from app.exports.nouns import ExportFormat
from app.exports.service import Exports
from app.exports.service.composing import Manuscript, compose
from app.exports.service.conversion import Conversions
from app.exports.service.document import Block, Heading, Items, Notice, Paragraph, Preformatted, Quotation, ReportDocument, Table
from app.exports.service.prose import plain_text_of
from app.reports.rendering import render
from app.reports.rendering.numbering import number_citations
from app.reports.storage.reports import StoredReport
from bench import export_readers
from bench.bilingual_report import DATA, make_bilingual_manuscript
from bench.export_readers import compact_text
from bench.result import print_result, print_skipped

READERS: dict[ExportFormat, Callable[[bytes], export_readers.ExportContent]] = {
    ExportFormat.PDF: export_readers.read_pdf_export,
    ExportFormat.DOCX: export_readers.read_docx_export,
    ExportFormat.LATEX: export_readers.read_latex_export,
    ExportFormat.HTML: export_readers.read_html_export,
    ExportFormat.MARKDOWN: export_readers.read_markdown_export,
    ExportFormat.JSON: export_readers.read_json_export,
    ExportFormat.BIBTEX: export_readers.read_bibtex_export,
    ExportFormat.RIS: export_readers.read_ris_export,
    ExportFormat.CSL: export_readers.read_csl_export,
}
REFERENCES = (ExportFormat.BIBTEX, ExportFormat.RIS, ExportFormat.CSL)


async def main(keep: Path | None) -> None:
    """Make each format, read it, print what is missing and the figures."""
    source = make_bilingual_manuscript()
    exports, run, stored = make_stored_report(source)
    document, citations = compose(source), number_citations(source.report).citations
    intact = 0
    for form, reader in READERS.items():
        started = time.perf_counter()
        made = (await exports.export(run, stored, form)).content
        took = time.perf_counter() - started
        if keep:
            (keep / f"{form.value}.{form.extension}").write_bytes(made)
        missing = find_lost_parts(reader(made), expect_document(form, document), citations, form in REFERENCES)
        intact += not missing
        print(f"{form}: {len(made):,} bytes in {took:.1f} s; {missing[:3] or 'intact'}")
    print_result("exports", {"formats": len(READERS), "intact": intact})


def expect_document(form: ExportFormat, document: ReportDocument) -> ReportDocument:
    """Return the document that a format should hold. JSON has claims as data, without marks."""
    if form is ExportFormat.BIBTEX:
        titled = [r.model_copy(update={"title": r.title.translate(export_readers.DOUBLE_MARKS)}) for r in document.references]
        return document.model_copy(update={"references": tuple(titled)})
    return document


def find_lost_parts(
    found: export_readers.ExportContent, document: ReportDocument, citations: Sequence[Citation], sources_only: bool
) -> list[str]:
    """List the parts of the report that a reader did not find. Of sources alone, those are titles, numbers and addresses."""
    titles = [reference.title for reference in document.references]
    texts = (
        titles
        if sources_only
        else [document.title, *list_texts(document.blocks), *(quote.text for r in document.references for quote in r.quotes)]
    )
    lost = [text for text in texts if compact_text(text) not in found.words]
    lost += [f"[{citation.n}]" for citation in citations if citation.n not in found.numbers]
    addresses = {unquote(address) for address in found.addresses}
    return lost + [r.url for r in document.references if r.url and unquote(r.url) not in addresses]


def list_texts(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the words of every paragraph, item and cell."""
    for block in blocks:
        match block:
            case Heading(of=of) | Paragraph(of=of):
                yield plain_text_of(of)
            case Notice(text=text):
                yield text
            case Preformatted(lines=lines):
                yield from lines
            case Quotation(blocks=inner):
                yield from list_texts(inner)
            case Items(items=items):
                for item in items:
                    yield from list_texts(item)
            case Table(head=head, rows=rows):
                for row in (head, *rows):
                    yield from (plain_text_of(cell) for cell in row)


def make_stored_report(source: Manuscript) -> tuple[Exports, Run, StoredReport]:
    """Make the report as the database would hold it."""
    query = ResearchQuery(question=source.question, language=source.language)
    run = Run(id=UUID(int=1), query=query, status=RunStatus.COMPLETED, created_at=source.finished, updated_at=source.finished)
    made = render(source.report, run)
    evidence = orjson.dumps(made.evidence).decode()
    stored = StoredReport(
        source.report.model_dump_json(), made.renderings.markdown, made.renderings.html, evidence, source.finished
    )
    return Exports(Conversions()), run, stored


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="folder to leave the files in")
    if DATA.is_dir():
        asyncio.run(main(parser.parse_args().keep))
    else:
        print_skipped("exports", "the articles are not at ../shared/data")
