"""How the product's chain runs in training: its limits, its date, and what a policy is asked in."""

from datetime import date

from pydantic import Field

from app.domain.budget import AgentLimits
from app.domain.query import SystemName
from app.domain.value import Value
from training.recipes.rollout_tools import MakeTools
from training.rollouts.run_chain import ChainSetup
from workflows.agents.agent_set import AgentSet
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Bounds
from workflows.agents.rollout_caps import RolloutCaps
from workflows.prompts.library import PromptLibrary


class ChainSection(Value):
    """The limits of a rollout (`workflows/agents/rollout_caps.py`), and the date that its prompts tell.

    `turns` of up to `calls_per_turn` tool calls; tokens of one action, of one observation, and of a conversation after its
    opening. The date is fixed so that a run that goes on another day has the same prompts.
    """

    turns: int = Field(ge=1)
    calls_per_turn: int = Field(ge=1)
    observation_tokens: int = Field(ge=1)
    action_tokens: int | None = Field(default=None, ge=1)
    conversation_tokens: int | None = Field(default=None, ge=1)
    today: date = date(2026, 1, 1)

    @property
    def caps(self) -> RolloutCaps:
        """The limits as the product's kit takes them."""
        return RolloutCaps(
            turns=self.turns,
            calls_per_turn=self.calls_per_turn,
            observation_tokens=self.observation_tokens,
            action_tokens=self.action_tokens,
            conversation_tokens=self.conversation_tokens,
        )

    def set_up(self, system: SystemName, agents: AgentSet, make_tools: MakeTools, one_conversation: bool = False) -> ChainSetup:
        """Return the setup of a system's rollouts.

        The policy is asked in tags, no conversation is shortened, and nothing takes the place of what the policy fails to write.
        """
        return ChainSetup(
            system=system,
            agents=agents,
            codec=TagCodec(),
            prompts=PromptLibrary.load(),
            make_tools=make_tools,
            today=self.today,
            limits=AgentLimits(),
            bounds=Bounds(shorten_conversations=False, replace_failed=False),
            caps=self.caps,
            one_conversation=one_conversation,
        )
