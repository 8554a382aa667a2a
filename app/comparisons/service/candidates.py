"""Prepare two finished reports for comparison: leave out everything that tells how each was made."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

import orjson

from app.comparisons.storage.comparisons import Candidate, WrittenReport
from app.domain.evidence import Finding
from app.domain.query import ResearchQuery
from app.domain.report import Report
from app.domain.run import Run
from app.domain.writer import Agents, Composition, ReportLineage
from app.preferences.nouns.feedback import CandidatePlace

SAME = "both reports came out the same; there is nothing to compare"
NOT_AS_ASKED = "the second report could not be written as asked: the model or prompt is not to be had here, or the model failed"


class CandidateSource(NamedTuple):
    """A report to compare, as its run left it."""

    place: CandidatePlace
    run: Run
    written: WrittenReport

    @property
    def lineage(self) -> ReportLineage:
        """The lineage of the report; empty for a report older than lineages."""
        return ReportLineage.of_any_version(orjson.loads(self.written.result).get("lineage") or {})


def evidence_digest(findings: Iterable[Finding]) -> str:
    """Return the SHA-256 (hex) of the set of all quotes found: the same evidence has the same digest, however it was found."""
    keys = sorted({quote.key for finding in findings for quote in finding.quotes})
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()


def candidate_of(made: CandidateSource) -> Candidate:
    """Return a report as its readers see it: without notices, which tell of its making, and without its claims' judges."""
    # Imported here: only comparisons render reports in this process, once each.
    from app.reports.rendering import render

    report = Report.of_any_version(made.written.report)
    rendered = render(report.model_copy(update={"notices": ()}), made.run)
    claims = [{k: v for k, v in claim.items() if k != "judge"} for claim in rendered.evidence["claims"]]
    markdown = rendered.renderings.markdown.replace("\x00", "")
    return Candidate(
        place=made.place,
        digest=hashlib.sha256(markdown.encode()).hexdigest(),
        title=report.title.replace("\x00", ""),
        markdown=markdown,
        shown=orjson.dumps({"citations": rendered.evidence["citations"], "claims": claims}).decode(),
        lineage=made.lineage,
        tokens=made.written.tokens,
        cost_microusd=made.written.cost_microusd,
    )


def find_obstacle(query: ResearchQuery, delivered: Candidate, alternative: Candidate, model_calls: int) -> str:
    """Return why these two cannot be compared; empty when they can. `query` is that of the second report.

    A canary compares its two models: where either did not write, a choice would not be one between them.
    """
    wish, by_model = query.writer, alternative.lineage.agents == Agents.MODEL
    if query.canary and not (by_model and delivered.lineage.agents == Agents.MODEL):
        return NOT_AS_ASKED
    if (wish.agents is Agents.MODEL or wish.model or wish.prompts or wish.temperature is not None) and not by_model:
        return NOT_AS_ASKED
    if by_model and not model_calls:
        return NOT_AS_ASKED
    if wish.composition is Composition.SINGLE_PASS and alternative.lineage.composition != Composition.SINGLE_PASS:
        return NOT_AS_ASKED
    return SAME if delivered.digest == alternative.digest else ""
