"""Reusing the last report: a rerun that finds the same quotes takes it over, and the writer does not run."""

import orjson

from app.domain.evidence import Finding
from app.domain.report import Report
from app.domain.writer import ReportLineage
from app.schedules.storage import living_runs
from workflows.durable.persistence import persist
from workflows.durable.workshop import StageAttempt
from workflows.judging.report_changes import words_of


async def find_reusable_report(attempt: StageAttempt, findings: tuple[Finding, ...]) -> tuple[Report, ReportLineage] | None:
    """Return the report of the run that this one refreshes, if both have the same evidence; None if it must be written."""
    before = attempt.request.query.refreshes
    if before is None:
        return None
    database = attempt.shop.database
    known = await persist(lambda: living_runs.get_findings(database, before))
    if not known or _evidence_of(known) != _evidence_of(findings):
        return None
    report = await persist(lambda: living_runs.get_report(database, before))
    made = await persist(lambda: living_runs.get_report_result(database, before))
    return (report, ReportLineage.of_any_version(orjson.loads(made)["lineage"])) if report and made else None


def _evidence_of(findings: tuple[Finding, ...] | list[Finding]) -> frozenset[tuple[str, str]]:
    return frozenset(words_of(quote) for finding in findings for quote in finding.quotes)
