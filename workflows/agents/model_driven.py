"""The agents that ask a language model."""

from workflows.agents.agent_set import AgentSet
from workflows.agents.deep_search import search_deeply
from workflows.agents.planning import make_plan
from workflows.agents.reporting import write_report

MODEL_DRIVEN = AgentSet(plan=make_plan, search=search_deeply, report=write_report)
