"""The agents that ask a language model."""

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from workflows.agents.agent_set import AgentSet
from workflows.agents.brief import BRIEF
from workflows.agents.deep_search import search_deeply
from workflows.agents.effort import is_small
from workflows.agents.kit import Kit
from workflows.agents.planning import make_plan
from workflows.agents.reporting import write_report

MODEL_DRIVEN = AgentSet(plan=make_plan, search=search_deeply, report=write_report)


def choose_agents(context_tokens: int) -> AgentSet:
    """Return the agents for a model with this context; 0 tokens: unknown.

    A model with a small context only writes. What it searches for and quotes by itself is seldom about the question
    (bench.small_model), so the question is split and searched as it is without a model.
    """
    return WRITING_ALONE if is_small(context_tokens) else MODEL_DRIVEN


async def _search_without_model(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
    """Search as a brief does; what a brief would tell its reader first, the report tells too."""
    finding = await BRIEF.search(subtask, plan, query, kit)
    return finding.model_copy(update={"notices": finding.gaps})


WRITING_ALONE = AgentSet(plan=BRIEF.plan, search=_search_without_model, report=write_report)
