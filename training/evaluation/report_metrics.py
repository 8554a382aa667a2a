"""MindDR's module metrics of outlines and reports (Table 1), and the rates of Tables 4, 6 and 8, for finished reports.

    figures = report_figures([MeasuredReport(text, written) ...])     # one system, any number of reports
    figures.tense_error_rate, figures.table_errors, figures.table_errors_after_repair, ...

A rate is `Missing` where there is nothing to take a share of. All rates count what the detectors of `workflows/checks` find,
without a model; `judging/writing_judge.py` asks a model about expression and logic.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from app.domain.missing import Missing
from app.domain.query import Language, detect_language
from training.rewards.score import Score
from training.rewards.violations import has_markdown_faults
from workflows.checks.citation_format import find_citation_faults, split_off_sources
from workflows.checks.heading_faults import OutlineFault, find_missed_titles, find_outline_faults, list_headings
from workflows.checks.languages import find_language_breaks
from workflows.checks.redundancy import find_repeats, list_statements
from workflows.checks.table_repair import repair_tables
from workflows.checks.tense import find_tense_errors


@dataclass(frozen=True, slots=True)
class MeasuredReport:
    """A delivered report in Markdown, and the day it was written on.

    `planned` are the titles of its outline or plan, where they are known. `language` is the question's; None: the text's.
    """

    markdown: str
    written: date
    planned: tuple[str, ...] = ()
    language: Language | None = None


@dataclass(frozen=True, slots=True)
class ReportCounts:
    """The counts of what the detectors found in one report."""

    statements: int
    tense_errors: int
    language_breaks: int
    repeats: int
    headings: int
    empty_titles: int
    planned: int
    missed_titles: int
    hierarchy_errors: int
    tables: int
    faulty_tables: int
    faulty_after_repair: int
    markdown_sound: bool
    citations_sound: bool

    @property
    def expression_issues(self) -> int:
        """The statements that change the language or repeat others, which is what rules can see of expression."""
        return self.language_breaks + self.repeats


@dataclass(frozen=True, slots=True)
class ReportFigures:
    """The figures over `reports` reports. Rates are shares; `hierarchy_errors` is the mean number for a report."""

    reports: int
    reports_with_tense_errors: float
    tense_error_rate: Score
    title_miss_rate: Score
    hierarchy_errors: float
    table_errors: Score
    table_errors_after_repair: Score
    expression_issue_rate: Score
    markdown_sound: float
    citations_sound: float

    @property
    def valid_tables(self) -> Score:
        """The share of tables without a fault."""
        return self.table_errors if isinstance(self.table_errors, Missing) else 1.0 - self.table_errors


def measure_reports(reports: Sequence[MeasuredReport]) -> ReportFigures:
    """Return the figures of one system.

    Raises:
        ValueError: there is no report.
    """
    if not reports:
        raise ValueError("no report to measure")
    return report_figures_of([count_report(report) for report in reports])


def report_figures_of(counts: Sequence[ReportCounts]) -> ReportFigures:
    """Return the figures over counted reports, at least one."""

    def share(part: Callable[[ReportCounts], int], whole: Callable[[ReportCounts], int], why: str) -> Score:
        total = sum(map(whole, counts))
        return sum(map(part, counts)) / total if total else Missing(why)

    def mean(value: Callable[[ReportCounts], float]) -> float:
        return sum(map(value, counts)) / len(counts)

    return ReportFigures(
        reports=len(counts),
        reports_with_tense_errors=mean(lambda c: c.tense_errors > 0),
        tense_error_rate=share(lambda c: c.tense_errors, lambda c: c.statements, "no statements"),
        title_miss_rate=share(lambda c: c.empty_titles + c.missed_titles, lambda c: c.headings + c.missed_titles, "no titles"),
        hierarchy_errors=mean(lambda c: c.hierarchy_errors),
        table_errors=share(lambda c: c.faulty_tables, lambda c: c.tables, "no tables"),
        table_errors_after_repair=share(lambda c: c.faulty_after_repair, lambda c: c.tables, "no tables"),
        expression_issue_rate=share(lambda c: c.expression_issues, lambda c: c.statements, "no statements"),
        markdown_sound=mean(lambda c: c.markdown_sound),
        citations_sound=mean(lambda c: c.citations_sound),
    )


def count_report(report: MeasuredReport) -> ReportCounts:
    """Count what the detectors find in one report. Its list of sources counts for citations alone."""
    body = split_off_sources(report.markdown).body
    statements = list_statements(report.markdown)
    headings = list_headings(body)
    faults = [found.fault for found in find_outline_faults(headings)]
    tables = repair_tables(body)
    return ReportCounts(
        statements=len(statements),
        tense_errors=len(find_tense_errors("\n".join(statements), report.written)),
        language_breaks=len(find_language_breaks(body, report.language or detect_language(body))),
        repeats=len(find_repeats(statements)),
        headings=len(headings),
        empty_titles=faults.count(OutlineFault.EMPTY),
        planned=len(report.planned),
        missed_titles=len(find_missed_titles(report.planned, headings)),
        hierarchy_errors=sum(fault.of_hierarchy for fault in faults),
        tables=tables.before.tables,
        faulty_tables=tables.before.faulty,
        faulty_after_repair=tables.after.faulty,
        markdown_sound=not has_markdown_faults(body),
        citations_sound=not find_citation_faults(report.markdown),
    )
