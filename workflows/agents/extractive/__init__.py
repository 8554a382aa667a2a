"""The three agents without a model: plan from question and corpus, search in rounds, write by quoting. They cannot invent."""

from workflows.agents.agent_set import AgentSet
from workflows.agents.extractive.planning import make_plan
from workflows.agents.extractive.searching import search_deeply
from workflows.agents.extractive.writing import write_report

EXTRACTIVE = AgentSet(plan=make_plan, search=search_deeply, report=write_report)

__all__ = ["EXTRACTIVE", "make_plan", "search_deeply", "write_report"]
