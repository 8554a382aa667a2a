"""What a system may use at most, to measure what it does with less (MindDR Fig. 9)."""

from dataclasses import replace

from app.domain.budget import AgentLimits
from app.domain.query import Language
from app.domain.value import Value
from workflows.agents.kit import Bounds

CHARS_PER_TOKEN = {Language.ENGLISH: 4.0, Language.CHINESE: 1.5}
SHOWN = 0.75
"""The share of a context that material may fill; instructions and the answer need the rest."""
OBSERVED, EVIDENCE = 0.25, 0.5


class Caps(Value):
    """`calls` of tools for each searching agent, `context` tokens of each conversation; 0: as the effort has it.

    Contexts are held to by counting characters, so that the longest one of a run, which its report tells, may differ somewhat.
    """

    calls: int = 0
    context: int = 0

    def limits(self, usual: AgentLimits) -> AgentLimits:
        """An agent may take as many turns as calls, so that calls decide."""
        if not self.calls:
            return usual
        return usual.model_copy(update={"max_tool_calls": self.calls, "max_turns": self.calls})

    def bounds(self, usual: Bounds, language: Language) -> Bounds:
        """What agents read at once, within the context."""
        if not self.context:
            return usual
        chars = int(self.context * CHARS_PER_TOKEN[language] * SHOWN)
        return replace(
            usual,
            conversation_chars=chars,
            observation_chars=min(usual.observation_chars, int(chars * OBSERVED)),
            evidence_chars=min(usual.evidence_chars, int(chars * EVIDENCE)),
        )


NO_CAPS = Caps()
