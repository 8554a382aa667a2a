"""Print the faults in the form of finished reports, one line each, then the rates over all reports."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import date
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.missing import Missing
from app.domain.query import detect_language
from training.evaluation.report_metrics import MeasuredReport, measure_reports
from workflows.checks.citation_format import find_citation_faults, split_off_sources
from workflows.checks.heading_faults import find_outline_faults, list_headings
from workflows.checks.languages import find_language_breaks
from workflows.checks.markdown_faults import find_markdown_faults
from workflows.checks.redundancy import find_repeats, list_statements
from workflows.checks.tables import find_tables
from workflows.checks.tense import find_tense_errors

SHOWN_CHARS = 90


def check_reports(files: Sequence[Path], written: date) -> int:
    """Print the faults of each Markdown file, then the figures of all. Return 1 where there is a fault, else 0.

    Raises:
        InvalidInput: a file cannot be read.
    """
    texts = {path: _read_report(path) for path in files}
    found = [f"{path}: {fault}" for path, text in texts.items() for fault in faults_of(text, written)]
    print("\n".join(found) or "no fault found")
    figures = measure_reports([MeasuredReport(text, written) for text in texts.values()])
    for name in (field.name for field in fields(figures)):
        value = getattr(figures, name)
        print(f"{name}: {value.reason if isinstance(value, Missing) else f'{value:.4g}'}")
    return int(bool(found))


def faults_of(text: str, written: date) -> Iterator[str]:
    """Yield each fault of a report, with its place."""
    body = split_off_sources(text).body
    headings = list_headings(body)
    statements = list_statements(text)
    for table in find_tables(body):
        if table.faults:
            yield f"table in line {table.start + 1}: {', '.join(sorted(table.faults))}"
    for place, fault in find_outline_faults(headings):
        yield f"heading “{_shorten(headings[place].title)}”: {fault}"
    for cited in find_citation_faults(text):
        yield f"citation {_shorten(cited.shown)}: {cited.fault}"
    yield from (f"Markdown: {fault}" for fault in find_markdown_faults(body))
    yield from (f"another language: {_shorten(sentence)}" for sentence in find_language_breaks(body, detect_language(body)))
    for repeat in find_repeats(statements):
        yield f"repeated: {_shorten(statements[repeat.second])}"
    for error in find_tense_errors("\n".join(statements), written):
        yield f"foretells what is past ({error.period}): {_shorten(error.text)}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…"


def _read_report(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as UTF-8 text: {error}") from error
