"""The report agent."""

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Report
from workflows.agents.kit import Kit


async def write_report(query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit) -> Report:
    """Outline, aggregation, sections in parallel, one consistency pass."""
    raise NotImplementedError
