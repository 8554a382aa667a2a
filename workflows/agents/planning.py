"""The planning agent: intent analysis, then a plan."""

from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from workflows.agents.kit import Kit


async def make_plan(query: ResearchQuery, kit: Kit) -> ResearchPlan:
    """Analyse the question, then split it into subtasks."""
    raise NotImplementedError
