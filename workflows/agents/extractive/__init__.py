"""Agents that need no model: they select the sources' own sentences and cite them by construction, so they cannot invent."""

from workflows.agents.agent_set import AgentSet
from workflows.agents.extractive.planning import make_plan
from workflows.agents.extractive.searching import search_deeply
from workflows.agents.extractive.writing import write_report

EXTRACTIVE = AgentSet(plan=make_plan, search=search_deeply, report=write_report)
