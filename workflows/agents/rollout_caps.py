"""The caps of rollouts, set on a kit. The papers' own are in `training/recipes/agent_rl`.

Tokens of observations become characters by a language's usual ratio, because agents have no tokenizer; tokens of actions and of
the conversation are the model's own count. In training a conversation is never shortened: where it gets too long, it ends.
"""

from dataclasses import dataclass, replace

from app.domain.budget import AgentLimits
from app.domain.query import Language
from workflows.agents.effort import CHARS_PER_TOKEN
from workflows.agents.kit import Bounds, Kit


@dataclass(frozen=True, slots=True)
class RolloutCaps:
    """The most `turns`, tool calls a turn, and tokens of one action, of one observation, and of a conversation after its opening.

    None: the kit's own. MaMs reads whole observations in chunks, which are those of serving whatever the caps are.
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
            shorten_conversations=False,
            action_tokens=self.action_tokens or usual.action_tokens,
            observe_faults=True,
        )
