"""The agent that Search-RL trains: the product's deep-search agent on the whole question. Its finding is delivered as it is."""

from workflows.agents.agent_set import AgentSet
from workflows.agents.deep_search import search_deeply
from workflows.agents.draft_report import deliver_draft
from workflows.agents.simple_plan import plan_whole_question

SEARCH_AGENT = AgentSet(plan=plan_whole_question, search=search_deeply, report=deliver_draft)
SEARCHER = "search/s1"
"""The agent's path: the plan has one part."""
