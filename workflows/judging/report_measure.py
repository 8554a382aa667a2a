"""The support of a report's sentences without a model, so that two reports over one evidence can be set beside each other."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from app.domain.claims import Support
from app.domain.evidence import Finding
from app.domain.report import Report
from workflows.agents.kit import Kit
from workflows.judging.context import QuoteContext
from workflows.judging.report_verification import verify_report
from workflows.judging.second_look import Judges


class SupportMeasure(NamedTuple):
    """The number of sentences that cite something, and of those that the offline grader calls fully supported."""

    cited: int
    supported: int


async def measure_support(
    report: Report, findings: Sequence[Finding], kit: Kit, around: Mapping[str, QuoteContext]
) -> SupportMeasure:
    """Grade each sentence anew without a model, whoever judged it before; nothing of the report changes."""
    graded = await verify_report(report, findings, kit, Judges(), around, mend=False)
    cited = [claim for claim in graded.claims if claim.quote_keys]
    return SupportMeasure(len(cited), sum(claim.support is Support.FULL for claim in cited))
