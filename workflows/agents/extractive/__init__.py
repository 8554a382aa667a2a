"""The agents without a model: plan from question and corpus, search in rounds, write by quoting. They cannot invent.

What stands here is all that others use of them.
"""

from workflows.agents.agent_set import AgentSet
from workflows.agents.extractive.ambiguity import open_points
from workflows.agents.extractive.following_up import nearest_quotes, quote_answer
from workflows.agents.extractive.planning import make_plan
from workflows.agents.extractive.provenance import with_true_notice
from workflows.agents.extractive.question import Question, analyse
from workflows.agents.extractive.revising import revise
from workflows.agents.extractive.searching import search_deeply
from workflows.agents.extractive.writing import write_report

EXTRACTIVE = AgentSet(plan=make_plan, search=search_deeply, report=write_report)

__all__ = [
    "EXTRACTIVE",
    "Question",
    "analyse",
    "make_plan",
    "nearest_quotes",
    "open_points",
    "quote_answer",
    "revise",
    "search_deeply",
    "with_true_notice",
    "write_report",
]
