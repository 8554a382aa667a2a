"""Reduce a stored report to what it says and quotes, for who may not read what it was written from."""

import orjson

from app.domain.report import Report
from app.domain.run import Run
from app.reports.rendering import render
from app.reports.rendering.numbering import number_citations
from app.reports.storage.reports import StoredReport


def withhold_evidence(stored: StoredReport, run: Run) -> StoredReport:
    """Return the report without the words around its quotes, quotes that it does not cite, and the reasons of its judges."""
    report = _reduce(Report.of_any_version(stored.report))
    page = render(report, run).renderings.html.replace("\x00", "")
    return stored._replace(report=report.model_dump_json(), html=page, evidence=_withhold_reasons(stored.evidence))


def _reduce(report: Report) -> Report:
    cited = {citation.quote.key: citation.quote for citation in number_citations(report).citations}
    return report.model_copy(
        update={
            "quotes": tuple(cited.values()),
            "conflicts": tuple(conflict for conflict in report.conflicts if cited.keys() >= set(conflict.quote_keys)),
            "claims": tuple(claim.model_copy(update={"reason": ""}) for claim in report.claims),
        }
    )


def _withhold_reasons(evidence: str) -> str:
    told = orjson.loads(evidence)
    told["claims"] = [{**claim, "reason": ""} for claim in told.get("claims", [])]
    return orjson.dumps(told).decode()
