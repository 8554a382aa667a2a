"""Limits of what a system may use, which measure how it does with less (MindDR Fig. 9)."""

from app.domain.budget import AgentLimits
from app.domain.query import Language
from app.domain.value import Value
from workflows.agents.effort import fit_bounds
from workflows.agents.kit import Bounds


class Caps(Value):
    """The most tool `calls` of each searching agent, and the most `context` tokens of each conversation; 0: the effort's limit.

    Contexts are limited by characters, so that the longest context in a run's report may differ a little.
    """

    calls: int = 0
    context: int = 0

    def cap_limits(self, usual: AgentLimits) -> AgentLimits:
        """Return the limits with this number of tool calls, and as many turns, so that the calls decide."""
        if not self.calls:
            return usual
        return usual.model_copy(update={"max_tool_calls": self.calls, "max_turns": self.calls})

    def cap_bounds(self, usual: Bounds, language: Language) -> Bounds:
        """Return the bounds of what agents read at once, within the context."""
        return fit_bounds(usual, self.context, language) if self.context else usual


NO_CAPS = Caps()
