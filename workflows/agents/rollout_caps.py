"""The caps under which the papers' agents are trained, as presets for a rollout's kit.

Tokens of observations become characters by a language's usual ratio, because agents have no tokenizer; tokens of actions and of
the conversation are the model's own count. In training a conversation is never shortened: where it gets too long, it ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from app.domain.budget import AgentLimits
from app.domain.query import Language
from workflows.agents.effort import CHARS_PER_TOKEN
from workflows.agents.kit import Bounds, Kit


@dataclass(frozen=True, slots=True)
class RolloutCaps:
    """The most `turns`, tool calls a turn, and tokens of one action, of one observation, and of a conversation after its opening.

    None: the kit's own.
    """

    turns: int
    calls_per_turn: int
    observation_tokens: int
    action_tokens: int | None = None
    conversation_tokens: int | None = None

    def cap(self, kit: Kit) -> Kit:
        """Return the kit under these caps."""
        return replace(kit, limits=self._cap_limits(kit.limits), bounds=self._cap_bounds(kit.bounds, kit.language))

    def _cap_limits(self, usual: AgentLimits) -> AgentLimits:
        calls = self.turns * self.calls_per_turn
        longest = self.conversation_tokens or usual.max_conversation_tokens
        return usual.model_copy(update={"max_turns": self.turns, "max_tool_calls": calls, "max_conversation_tokens": longest})

    def _cap_bounds(self, usual: Bounds, language: Language) -> Bounds:
        chars = int(self.observation_tokens * CHARS_PER_TOKEN[language])
        return replace(
            usual,
            queries_per_action=self.calls_per_turn,
            calls_per_turn=self.calls_per_turn,
            observation_chars=chars,
            chunk_chars=chars,
            shorten_conversations=False,
            action_tokens=self.action_tokens or usual.action_tokens,
            observe_faults=True,
        )


QSR = RolloutCaps(turns=10, calls_per_turn=5, observation_tokens=24_000, conversation_tokens=65_536)
"""QSR appendix D, Table 4: 10 turns of up to 5 calls, an observation window of 24,000, a context of 64k tokens.

The table gives the window no unit; it stands among tokens. MaMs reads its observations in pieces of that length.
"""
DRUB = RolloutCaps(turns=20, calls_per_turn=5, observation_tokens=4_096, action_tokens=2_048, conversation_tokens=28_288)
"""DRub appendix B.2, Table 5: 20 turns, 2,048 tokens an action, 4,096 an observation, 28,288 in all. Calls a turn are ours."""
PRESETS: Mapping[str, RolloutCaps] = {"qsr": QSR, "drub": DRUB}
