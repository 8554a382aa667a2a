"""The deep-search agent."""

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from workflows.agents.kit import Kit


async def search_deeply(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
    """Work one subtask until it is answered or a limit is reached."""
    raise NotImplementedError
