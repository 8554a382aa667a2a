"""MaMs, the multi-agent Markov-state workflow (QSR section 3.4, appendix B): one policy in three roles.

The search agent reads memory, plan and report, refines the plan and chooses tool calls. What they bring is cut into chunks; for
each, the state agent fuses memory and plan, and the report agent revises the report. It ends by the plan, or when its turns are
used up.
"""

from workflows.agents.agent_set import AgentSet
from workflows.agents.draft_report import deliver_draft
from workflows.agents.markov.researching import research_in_turns
from workflows.agents.simple_plan import plan_whole_question

MARKOV = AgentSet(plan=plan_whole_question, search=research_in_turns, report=deliver_draft)
