"""Exports, read back by the programs that people open them with."""

import asyncio
import importlib
import io
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pypandoc
import rispy

from app.domain.citations import marker_of
from app.domain.evidence import Quote, Source, snapshot_hash
from app.domain.query import Language
from app.domain.report import Report, Section
from app.exports.nouns import ExportFormat
from app.exports.service.composing import Manuscript
from bench.conformance.outcome import NotRun, Outcome, count_checks
from bench.exports import make_stored_report

TITLES = (
    "Duties on wool, 1660–1815",
    "进口关税的历史",
    '100% of {braces}, \\backslashes & "quotes" — $5 #1 _x_ ~^',
    "Ålesund's naïve café: ½ of it < 3 > 2",
)
PANDOC = {
    ExportFormat.DOCX: "docx",
    ExportFormat.LATEX: "latex",
    ExportFormat.HTML: "html",
    ExportFormat.MARKDOWN: "gfm",
    ExportFormat.BIBTEX: "bibtex",
    ExportFormat.RIS: "ris",
    ExportFormat.CSL: "csljson",
}
NO_BIBER = "biber is not installed (Debian's package `biber`)"
FAULTS = ("WARN", "ERROR")


def check_exports(_: Path) -> Outcome:
    """Write one small report of awkward titles in each format; each reader takes its file without a complaint."""
    made = asyncio.run(_export_all())
    readers: dict[str, Callable[[], str]] = {
        f"pandoc: {form}": partial(_read_with_pandoc, made[form], name) for form, name in PANDOC.items()
    }
    readers |= {
        "qpdf: pdf": partial(_read_with_qpdf, made[ExportFormat.PDF]),
        "rispy: ris": partial(_read_with_rispy, made[ExportFormat.RIS]),
        "citeproc: csl": partial(_read_with_citeproc, made[ExportFormat.CSL]),
        "biber: bibtex": partial(_read_with_biber, made[ExportFormat.BIBTEX]),
    }
    skipped: dict[str, str] = {}
    return count_checks(_run_all(readers, skipped), skipped)


def _run_all(readers: Mapping[str, Callable[[], str]], skipped: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, read in readers.items():
        try:
            yield name, read()
        except NotRun as reason:
            skipped[name] = str(reason)


def make_manuscript() -> Manuscript:
    """Make a report that quotes one source under each title."""
    quotes = [_make_quote(title, number) for number, title in enumerate(TITLES, 1)]
    body = "\n\n".join(f"A claim, number {n} {marker_of(quote)}." for n, quote in enumerate(quotes, 1))
    table = "| Year | Duty |\n|---|---|\n| 1660 | 5% |"
    sections = (Section(heading="Duties", body=body), Section(heading="表格", body=f"{table}\n\n- one\n- two"))
    report = Report(title=TITLES[2], sections=sections, quotes=tuple(quotes))
    return Manuscript(
        report=report, question="Who taxed wool?", language=Language.ENGLISH, finished=datetime(2026, 2, 3, tzinfo=UTC)
    )


def _make_quote(title: str, number: int) -> Quote:
    text = f"What source {number} says of {title}."
    url = f"https://example.org/{number}?a=1&b=%20#part_{number}"
    source = Source(url=url, title=title, snapshot=snapshot_hash(text), published=date(2020, number, 1))
    return Quote(source=source, text=text, start=0, end=len(text))


async def _export_all() -> dict[ExportFormat, bytes]:
    exports, run, stored = make_stored_report(make_manuscript())
    return {form: (await exports.export(run, stored, form)).content for form in ExportFormat}


def _read_with_pandoc(content: bytes, form: str) -> str:
    command = [pypandoc.get_pandoc_path(), f"--from={form}", "--fail-if-warnings", "--to=json"]
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    return done.stderr.decode().strip()


def _read_with_qpdf(content: bytes) -> str:
    pikepdf = _require("pikepdf")
    with pikepdf.open(io.BytesIO(content)) as pdf:
        return "; ".join(map(str, pdf.check_pdf_syntax()))


def _read_with_rispy(content: bytes) -> str:
    return _compare_titles(entry.get("title", "") for entry in rispy.loads(content.decode()))


def _read_with_citeproc(content: bytes) -> str:
    citeproc: Any = _require("citeproc")
    source = _require("citeproc.source.json").CiteProcJSON(json.loads(content))
    style = citeproc.CitationStylesStyle("harvard-cite-them-right", validate=False)
    bibliography = citeproc.CitationStylesBibliography(style, source, citeproc.formatter.plain)
    for name in source:
        bibliography.register(citeproc.Citation([citeproc.CitationItem(name)]))
    entries = [str(entry) for entry in bibliography.bibliography()]
    return "" if len(entries) == len(TITLES) else f"{len(entries)} entries"


def _read_with_biber(content: bytes) -> str:
    biber = shutil.which("biber")
    if biber is None:
        raise NotRun(NO_BIBER)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sources.bib").write_bytes(content)
        command = [biber, "--tool", "--validate-datamodel", "--nolog", "sources.bib"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        return "; ".join(line for line in done.stdout.splitlines() if line.startswith(FAULTS))


def _compare_titles(found: Any) -> str:
    missing = set(TITLES) - set(found)
    return f"not found: {sorted(missing)}" if missing else ""


def _require(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise NotRun(f"{module} could not be fetched from PyPI") from error
