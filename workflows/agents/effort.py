"""How far the agents go before they stop by themselves, by effort.

DeepRubric (section 4.1) allows 10 turns of tool calls in evaluation and 20 in training; these are `standard` and `deep`.
"""

from app.domain.budget import AgentLimits
from app.domain.query import Effort
from workflows.agents.kit import Bounds

LIMITS = {
    Effort.QUICK: AgentLimits(max_turns=4, max_tool_calls=8),
    Effort.STANDARD: AgentLimits(max_turns=10, max_tool_calls=20),
    Effort.DEEP: AgentLimits(max_turns=20, max_tool_calls=40),
}
BOUNDS = {
    Effort.QUICK: Bounds(subtasks=3, sections=4, section_words=280, queries_per_action=3),
    Effort.STANDARD: Bounds(),
    Effort.DEEP: Bounds(subtasks=8, sections=9, section_words=650, evidence_chars=60_000),
}
