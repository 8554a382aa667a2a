"""The agents without a model: they find passages and quote the sentences that answer best. They cannot invent.

What stands here is all that others use of them.
"""

from workflows.agents.agent_set import AgentSet
from workflows.agents.brief.following_up import find_nearest_quotes, quote_answer
from workflows.agents.brief.planning import make_plan
from workflows.agents.brief.revising import make_notice, renew_notice, revise_section
from workflows.agents.brief.searching import find_quotes, find_units, search_deeply
from workflows.agents.brief.writing import list_readings, write_brief

BRIEF = AgentSet(plan=make_plan, search=search_deeply, report=write_brief)

__all__ = [
    "BRIEF",
    "find_nearest_quotes",
    "find_quotes",
    "find_units",
    "list_readings",
    "make_notice",
    "quote_answer",
    "renew_notice",
    "revise_section",
    "write_brief",
]
